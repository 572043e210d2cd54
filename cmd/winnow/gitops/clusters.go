package gitops

import (
	"bufio"
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/lists"
)

// maxScanned bounds a file in which a Kustomization is looked for.
const maxScanned = 1 << 20

// written is a Kustomization, or the sync of a FluxInstance, as it stands in a file.
type written struct {
	file, path string
	// sync is the source that the FluxInstance makes; nil for a Kustomization.
	sync *unstructured.Unstructured
}

// dir that the file is in.
func (w written) dir() string { return path.Dir(w.file) }

// itself reports whether the Kustomization applies its own file.
func (w written) itself() bool { return contains(w.path, w.file) }

// contains reports whether a path is at or below a directory.
func contains(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// clusters are directories, each with the source that a FluxInstance makes for it; nil for none.
type clusters map[string]*unstructured.Unstructured

// dirs are the directories, sorted, without those in others.
func (c clusters) dirs() []string { return outermost(slices.Sorted(maps.Keys(c))) }

// clustersIn finds the clusters at or below a path; none where no Flux Kustomization is.
func clustersIn(t *tree, name string) clusters {
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
	var others []written
	for _, w := range writtenIn(t, slices.Sorted(maps.Keys(files))) {
		switch {
		case w.sync != nil && t.isDir(w.path):
			found[w.path] = w.sync
		case w.itself() && t.isDir(w.path):
			if _, known := found[w.path]; !known {
				found[w.path] = nil
			}
		default:
			others = append(others, w)
		}
	}
	switch {
	case name == ".":
		starts(t, others, found)
	case len(found) == 0 && len(others) > 0:
		found[name] = nil
	}
	return found
}

// starts adds the directories of Kustomizations that nothing in the repository applies.
func starts(t *tree, others []written, found clusters) {
	candidates := clusters{}
	for _, w := range others {
		applied := slices.ContainsFunc(others, func(o written) bool {
			return o.file != w.file && t.isDir(o.path) && contains(o.path, w.file)
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

// outermost leaves out directories that are in others.
func outermost(dirs []string) []string {
	var kept []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(dirs, func(other string) bool { return other != dir && contains(other, dir) }) {
			kept = append(kept, dir)
		}
	}
	return kept
}

// writtenIn looks for Kustomizations in files, without building anything.
func writtenIn(t *tree, files []string) []written {
	var found []written
	for _, file := range files {
		if !isYAML(file) || !t.isFile(file) || t.files[file].size > maxScanned {
			continue
		}
		content, err := t.read(file)
		if err != nil || !leads.Match(content) {
			continue
		}
		for _, o := range documentsOf(content) {
			if follows(o) {
				found = append(found, written{file, pathOf(unstructuredString(o, "spec", "path")), nil})
			}
			if sync := syncOf(o); sync != nil {
				found = append(found, written{file, pathOf(unstructuredString(o, "spec", "sync", "path")), sync})
			}
		}
	}
	return found
}

// pathOf cleans a path of a Kustomization, which cannot leave the repository.
func pathOf(written string) string {
	return path.Join(".", strings.TrimPrefix(path.Join("/", written), "/"))
}

// documentsOf returns the objects of a file that can be read.
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
