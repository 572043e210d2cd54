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
	// foreign reports that its source is another repository.
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
	var refs []string // of the sources, in the order of found
	own := map[string]bool{}
	for _, file := range files {
		for _, o := range leading(t, file) {
			if manifest.Follows(o) {
				ref := manifest.StringAt(o, "spec", "sourceRef", "kind") + " " + manifest.StringAt(o, "spec", "sourceRef", "name")
				found = append(found, fileKustomization{
					file: file, path: repository.CleanPath(manifest.StringAt(o, "spec", "path")), components: manifest.StringsAt(o, "spec", "components"),
				})
				refs = append(refs, ref)
			}
			source := o
			if sync := manifest.SyncOf(o); sync != nil {
				found = append(found, fileKustomization{file: file, path: repository.CleanPath(manifest.StringAt(o, "spec", "sync", "path")), sync: sync})
				refs, source = append(refs, sync.Source.GetKind()+" "+sync.Source.GetName()), sync.Source
			}
			if source.GroupVersionKind().Group == manifest.SourceGroup {
				_, named := self.Find(types.NamespacedName{Namespace: source.GetNamespace(), Name: source.GetName()})
				key := source.GetKind() + " " + source.GetName()
				own[key] = own[key] || named || self.Remotes[repository.AddressOf(manifest.StringAt(source, "spec", "url"))] != ""
			}
		}
	}
	recognizes := slices.Contains(slices.Collect(maps.Values(own)), true)
	for n, ref := range refs {
		found[n].foreign = found[n].sync == nil && isForeign(own, ref, found[n].path, recognizes)
	}
	return found
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
	if !t.IsFile(file) {
		return nil
	}
	content, err := t.Read(file)
	if err != nil || !manifest.MayMakeSelections(content) {
		return nil
	}
	return manifest.Documents(content)
}
