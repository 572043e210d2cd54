// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"maps"
	"path"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/each"
)

// maxScanned bounds the size of a file that is searched for Kustomizations.
const maxScanned = 1 << 20

// fileKustomization is a Kustomization, or the sync of a FluxInstance, in a file, before any build.
type fileKustomization struct {
	file, path string
	components []string
	// source is the kind and the name of its source, and foreign reports that this is another repository.
	source  string
	foreign bool
	// sync is the one of the FluxInstance; nil for a Kustomization.
	sync *manifest.Sync
}

// dir returns the directory of the file.
func (w fileKustomization) dir() string { return path.Dir(w.file) }

// applies reports whether the Kustomization applies a file of the tree.
func (w fileKustomization) applies(t *repository.Tree, file string) bool {
	return !w.foreign && t.IsDir(w.path) && repository.Contains(w.path, file)
}

// clusters maps the directory of a cluster to the syncs of its FluxInstances, if it has any.
type clusters map[string][]*manifest.Sync

// dirs returns the directories, sorted, without directories below others.
func (c clusters) dirs() []string { return outermost(slices.Sorted(maps.Keys(c))) }

// clustersIn finds the clusters at or below a path. It finds none without Kustomizations of Flux.
func clustersIn(self repository.Identity, t *repository.Tree, name string) clusters {
	found := clusters{}
	if !t.IsDir(name) {
		return found
	}
	files := map[string]bool{}
	for _, file := range t.YAMLs(name) {
		files[file] = true
	}
	for file := range inputs.NewClosure(t, name, nil).Files {
		files[file] = true
	}
	var others []fileKustomization
	for _, w := range kustomizationsIn(self, t, slices.Sorted(maps.Keys(files))) {
		switch {
		case w.sync != nil && t.IsDir(w.path):
			found[w.path] = append(found[w.path], w.sync)
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
func addUnapplied(t *repository.Tree, others []fileKustomization, found clusters) {
	candidates := clusters{}
	for _, w := range others {
		applied := slices.ContainsFunc(others, func(o fileKustomization) bool {
			return o.file != w.file && o.applies(t, w.file)
		})
		for dir := range found {
			applied = applied || repository.Contains(dir, w.file)
		}
		if !applied {
			candidates[w.dir()] = nil
		}
	}
	dirs := slices.Sorted(maps.Keys(candidates))
	for _, dir := range append(slices.Sorted(maps.Keys(found)), dirs...) {
		files := inputs.NewClosure(t, dir, nil).Files
		for _, w := range others {
			if _, used := files[w.file]; used && !repository.Contains(dir, w.file) {
				delete(candidates, w.dir())
			}
		}
	}
	maps.Copy(found, candidates)
}

// outermost returns the directories that are not below others.
func outermost(dirs []string) []string {
	return each.Where(dirs, func(dir string) bool {
		return !slices.ContainsFunc(dirs, func(other string) bool { return other != dir && repository.Contains(other, dir) })
	})
}

// kustomizationsIn finds the Kustomizations in files, without a build. If a source in the files is this repository, Kustomizations
// of other sources are foreign. So is one of a whole artifact whose OCIRepository is in the files, unless a flag names it.
func kustomizationsIn(self repository.Identity, t *repository.Tree, files []string) []fileKustomization {
	var found []fileKustomization
	own := map[string]bool{}
	for _, file := range files {
		in, err := repository.Parsed(t, file, parseFluxFile)
		if err != nil {
			continue
		}
		for _, w := range in.kustomizations {
			w.file = file
			found = append(found, w)
		}
		for _, s := range in.sources {
			_, named := self.Find(s.name)
			own[s.ref] = own[s.ref] || named || self.Remotes[s.address] != ""
		}
	}
	recognizes := slices.Contains(slices.Collect(maps.Values(own)), true)
	for i, w := range found {
		found[i].foreign = w.sync == nil && isForeign(own, w.source, w.path, recognizes)
	}
	return found
}

// fluxFile has the Kustomizations and the sources of a file.
type fluxFile struct {
	kustomizations []fileKustomization
	sources        []fileSource
}

// fileSource is a source in a file: its kind and name, and the address of its repository.
type fileSource struct {
	ref, address string
	name         types.NamespacedName
}

func parseFluxFile(content []byte) (in fluxFile, err error) {
	refOf := func(source *unstructured.Unstructured) string { return source.GetKind() + " " + source.GetName() }
	for _, o := range leadingIn(content) {
		if manifest.Follows(o) {
			in.kustomizations = append(in.kustomizations, fileKustomization{
				path: repository.CleanPath(manifest.StringAt(o, "spec", "path")), components: manifest.StringsAt(o, "spec", "components"),
				source: manifest.StringAt(o, "spec", "sourceRef", "kind") + " " + manifest.StringAt(o, "spec", "sourceRef", "name"),
			})
		}
		source := o
		if sync := manifest.SyncOf(o); sync != nil {
			source = sync.Source
			in.kustomizations = append(in.kustomizations, fileKustomization{
				path: repository.CleanPath(manifest.StringAt(o, "spec", "sync", "path")), source: refOf(source), sync: sync,
			})
		}
		if source.GroupVersionKind().Group == manifest.SourceGroup {
			in.sources = append(in.sources, fileSource{
				refOf(source), repository.AddressOf(manifest.StringAt(source, "spec", "url")), types.NamespacedName{Namespace: source.GetNamespace(), Name: source.GetName()},
			})
		}
	}
	return in, nil
}

// isForeign reports whether a source of a Kustomization is another repository. own has the sources that are there.
func isForeign(own map[string]bool, ref, path string, recognizes bool) bool {
	is, known := own[ref]
	// An artifact that is applied as a whole is hardly this repository, with all its clusters.
	whole := known && strings.HasPrefix(ref, sourcev1.OCIRepositoryKind+" ") && path == "."
	known = known || !strings.HasPrefix(ref, sourcev1.GitRepositoryKind+" ")
	return (recognizes && known || whole) && !is
}

// leading returns the objects of a file that may have Kustomizations or sources.
func leading(t *repository.Tree, file string) []*unstructured.Unstructured {
	content, err := t.Read(file)
	if err != nil {
		return nil
	}
	return leadingIn(content)
}

// leadingIn is leading for the content of a file.
func leadingIn(content []byte) []*unstructured.Unstructured {
	if !manifest.MayMakeSelections(content) {
		return nil
	}
	return manifest.Documents(content)
}
