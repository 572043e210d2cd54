package gitops

import (
	"bufio"
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/lists"
)

// maxScanned bounds the size of a file that is searched for Kustomizations.
const maxScanned = 1 << 20

// fileKustomization is a Kustomization, or the sync of a FluxInstance, in a file, before any build.
type fileKustomization struct {
	file, path string
	components []string
	// foreign reports that its source is another repository.
	foreign bool
	// sync is the source that flux-operator creates for the FluxInstance; nil for a Kustomization.
	sync *unstructured.Unstructured
}

// dir returns the directory of the file.
func (w fileKustomization) dir() string { return path.Dir(w.file) }

// applies reports whether the Kustomization applies a file of the tree.
func (w fileKustomization) applies(t *tree, file string) bool {
	return !w.foreign && t.isDir(w.path) && contains(w.path, file)
}

// contains reports whether a path is at or below a directory.
func contains(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// clusters maps the directory of a cluster to the source that flux-operator creates for it; nil for none.
type clusters map[string]*unstructured.Unstructured

// dirs returns the directories, sorted, without those below others.
func (c clusters) dirs() []string { return outermost(slices.Sorted(maps.Keys(c))) }

// clustersIn finds the clusters at or below a path. It finds none without Kustomizations of Flux.
func (i identity) clustersIn(t *tree, name string) clusters {
	found := clusters{}
	if !t.isDir(name) {
		return found
	}
	files := map[string]bool{}
	for _, file := range t.yamls(name) {
		files[file] = true
	}
	for file := range newClosure(t, name, nil).files {
		files[file] = true
	}
	var others []fileKustomization
	for _, w := range i.kustomizationsIn(t, slices.Sorted(maps.Keys(files))) {
		switch {
		case w.sync != nil && t.isDir(w.path):
			found[w.path] = w.sync
		case w.applies(t, w.file):
			if _, known := found[w.path]; !known {
				found[w.path] = nil
			}
		default:
			others = append(others, w)
		}
	}
	switch {
	case name == "." || len(found) > 0:
		addUnapplied(t, others, found)
	case len(others) > 0:
		found[name] = nil
	}
	return found
}

// addUnapplied adds the directories of Kustomizations that no other Kustomization in the repository applies.
func addUnapplied(t *tree, others []fileKustomization, found clusters) {
	candidates := clusters{}
	for _, w := range others {
		applied := slices.ContainsFunc(others, func(o fileKustomization) bool {
			return o.file != w.file && o.applies(t, w.file)
		})
		for dir := range found {
			applied = applied || contains(dir, w.file)
		}
		if !applied {
			candidates[w.dir()] = nil
		}
	}
	dirs := slices.Sorted(maps.Keys(candidates))
	for _, dir := range append(slices.Sorted(maps.Keys(found)), dirs...) {
		files := newClosure(t, dir, nil).files
		for _, w := range others {
			if _, used := files[w.file]; used && !contains(dir, w.file) {
				delete(candidates, w.dir())
			}
		}
	}
	maps.Copy(found, candidates)
}

// outermost returns the directories that are not below others.
func outermost(dirs []string) []string {
	var kept []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(dirs, func(other string) bool { return other != dir && contains(other, dir) }) {
			kept = append(kept, dir)
		}
	}
	return kept
}

// kustomizationsIn finds the Kustomizations in files, without a build. Where a source in the files is this repository,
// those of sources that are not are foreign.
func (i identity) kustomizationsIn(t *tree, files []string) []fileKustomization {
	var found []fileKustomization
	var refs []string // of the sources, in the order of found
	own := map[string]bool{}
	for _, file := range files {
		for _, o := range leading(t, file) {
			if follows(o) {
				ref := unstructuredString(o, "spec", "sourceRef", "kind") + " " + unstructuredString(o, "spec", "sourceRef", "name")
				found = append(found, fileKustomization{
					file: file, path: pathOf(unstructuredString(o, "spec", "path")), components: unstructuredSlice(o, "spec", "components"),
				})
				refs = append(refs, ref)
			}
			source := o
			if sync := syncOf(o); sync != nil {
				found = append(found, fileKustomization{file: file, path: pathOf(unstructuredString(o, "spec", "sync", "path")), sync: sync})
				refs, source = append(refs, sync.GetKind()+" "+sync.GetName()), sync
			}
			if source.GroupVersionKind().Group == sourceGroup {
				_, named := i.find(types.NamespacedName{Namespace: source.GetNamespace(), Name: source.GetName()})
				key := source.GetKind() + " " + source.GetName()
				own[key] = own[key] || named || i.remotes[addressOf(unstructuredString(source, "spec", "url"))] != ""
			}
		}
	}
	recognizes := slices.Contains(slices.Collect(maps.Values(own)), true)
	for n, ref := range refs {
		is, known := own[ref]
		known = known || !strings.HasPrefix(ref, sourcev1.GitRepositoryKind+" ")
		found[n].foreign = recognizes && known && !is && found[n].sync == nil
	}
	return found
}

// leading returns the objects of a file that may have Kustomizations or sources.
func leading(t *tree, file string) []*unstructured.Unstructured {
	if !isYAML(file) || !t.isFile(file) || t.files[file].size > maxScanned {
		return nil
	}
	content, err := t.read(file)
	if err != nil || !selectionPattern.Match(content) && !bytes.Contains(content, []byte(sourceGroup)) {
		return nil
	}
	return documentsOf(content)
}

// pathOf cleans a path of a Kustomization, so that it stays in the repository.
func pathOf(written string) string {
	return path.Join(".", strings.TrimPrefix(path.Join("/", written), "/"))
}

// documentsOf returns the objects of a file, without documents that cannot be parsed.
func documentsOf(content []byte) []*unstructured.Unstructured {
	if checkAliases(content) != nil {
		return nil
	}
	var all []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if err != nil {
			return all
		}
		var object map[string]any
		if yaml.Unmarshal(document, &object) != nil || object == nil {
			continue
		}
		for _, one := range lists.Objects(object) {
			all = append(all, &unstructured.Unstructured{Object: one})
		}
	}
}
