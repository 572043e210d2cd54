// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// locate returns the tree and the directory that a node applies. The error is the reason why these are not
// in the repository; reads of the node are then the directories that it may be built from all the same.
func (w *walk) locate(n *node) (*repository.Tree, string, error) {
	ref := n.sourceRef()
	n.state = w.externalState(n)
	if like := building.PathPattern(n.Path()); like != nil {
		n.reads = w.directoriesLike(like)
		return nil, "", fmt.Errorf("its path is known in the cluster only: %s", strings.Join(n.unknown, "; "))
	}
	t, dir, err := w.resolve(ref)
	dir = path.Join(dir, n.Path())
	n.reads = w.takes(ref, n.Path(), map[taken]bool{})
	if _, named := w.self.Find(ref.Name); named && err == nil && !t.IsDir(dir) {
		n.reads = []string{n.Path()}
		err = fmt.Errorf("its path %s is not in the repository, with the directory of --repository", dir)
	}
	if err == nil {
		return t, dir, nil
	}
	n.reads = slices.DeleteFunc(n.reads, func(dir string) bool { return !w.whole().IsDir(dir) })
	if other, ok := errors.AsType[*elsewhere](err); ok && other.ask && len(n.reads) > 0 {
		err = fmt.Errorf("%w; pass --repository %s=. if it is this repository", err, manifest.NameOf(n.Source()))
	}
	return nil, "", err
}

// externalState returns the state of a node whose files are not read.
func (w *walk) externalState(n *node) string {
	return inputs.Digest(n.Content(), n.vars.Digest(), w.sourceDigest(n.sourceRef(), map[manifest.Ref]bool{}))
}

// taken is a directory of a source.
type taken struct {
	manifest.Ref
	dir string
}

// generator returns the ArtifactGenerator that makes an ExternalArtifact, nil for none.
func (w *walk) generator(m manifest.Ref) *manifest.Object {
	if m.Kind != sourcev1.ExternalArtifactKind {
		return nil
	}
	for _, o := range w.objects() {
		named := func(artifact map[string]any) bool { return artifact["name"] == m.Name.Name }
		if o.Cluster == m.Cluster && o.Group() == manifest.GeneratorGroup && o.GetKind() == manifest.GeneratorKind && o.GetNamespace() == m.Name.Namespace &&
			slices.ContainsFunc(manifest.MapsAt(o.Unstructured, "spec", "artifacts"), named) {
			return &o
		}
	}
	return nil
}

// takes returns the directories of this repository whose files a source has, or may have, at a path. ArtifactGenerators may
// take files of each other: seen are the directories that it was called for.
func (w *walk) takes(m manifest.Ref, dir string, seen map[taken]bool) []string {
	at := taken{m, dir}
	if seen[at] {
		return nil
	}
	seen[at] = true
	if made := w.generator(m); made != nil {
		return w.copies(made, m.Name.Name, seen)
	}
	_, root, err := w.resolve(m)
	switch other, ok := errors.AsType[*elsewhere](err); {
	case err == nil:
		return []string{path.Join(root, dir)}
	case !ok || !other.here, other.ask && dir == "." && (w.recognizes() || w.isArtifact(m)):
		return nil
	}
	return []string{dir}
}

// isArtifact reports whether a source is an OCIRepository that is there.
func (w *walk) isArtifact(m manifest.Ref) bool {
	return m.Kind == sourcev1.OCIRepositoryKind && w.find(m) != nil
}

// copies returns the directories of this repository that an ArtifactGenerator takes the files of an artifact from.
func (w *walk) copies(made *manifest.Object, artifact string, seen map[taken]bool) (dirs []string) {
	for alias, ref := range generatedFrom(made) {
		for _, one := range manifest.MapsAt(made.Unstructured, "spec", "artifacts") {
			if one["name"] != artifact {
				continue
			}
			for _, step := range manifest.MapsAt(&unstructured.Unstructured{Object: one}, "copy") {
				from, _ := step["from"].(string)
				if within, found := strings.CutPrefix(from, "@"+alias+"/"); found {
					if glob := strings.IndexAny(within, "*?[{"); glob >= 0 {
						within = path.Dir(within[:glob] + "x")
					}
					dirs = append(dirs, w.takes(ref, repository.CleanPath(within), seen)...)
				}
			}
		}
	}
	return dirs
}

// generatedFrom returns the sources of an ArtifactGenerator with their aliases.
func generatedFrom(made *manifest.Object) iter.Seq2[string, manifest.Ref] {
	return func(yield func(string, manifest.Ref) bool) {
		for _, source := range manifest.MapsAt(made.Unstructured, "spec", "sources") {
			alias, _ := source["alias"].(string)
			if !yield(alias, manifest.SourceIn(source, made.Cluster, made.GetNamespace())) {
				return
			}
		}
	}
}

// hide adds to a CatalogSelection what of its catalogs is files of this repository: these are not read as a catalog.
func (w *walk) hide(o *manifest.Object) {
	if k, err := manifest.NewKustomization(o.Unstructured); err == nil && manifest.IsKustomization(o.Unstructured) && len(k.References()) > 0 {
		o.Hidden = inputs.Digest(o.Hidden, building.NewVariables(k, o.Cluster, w.find).Digest())
	}
	for i, m := range o.Sources() {
		if _, named := w.self.Find(m.Name); m.Kind == sourcev1.OCIRepositoryKind && !named {
			continue
		}
		within, _ := manifest.MapsAt(o.Unstructured, "spec", "sources")[i]["path"].(string)
		dirs := w.takes(m, repository.CleanPath(within), map[taken]bool{})
		if len(dirs) == 0 {
			continue
		}
		parts := []string{o.Hidden, w.sourceDigest(m, map[manifest.Ref]bool{})}
		for _, name := range slices.Sorted(maps.Keys(w.whole().Files)) {
			if repository.ContainsAny(dirs, name) {
				parts = append(parts, name, w.tree.Files[name].ID)
			}
		}
		o.Hidden = inputs.Digest(parts...)
		o.Unknown = append(o.Unknown, fmt.Sprintf("source %s: its catalog is made of files of this repository, which are not read here", m.Name.Name))
	}
}

// directoriesLike returns the directories that match a pattern.
func (w *walk) directoriesLike(pattern *regexp.Regexp) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.whole().Dirs)), func(dir string) bool { return !pattern.MatchString(dir) })
}

// sourceDigest returns a digest of what determines the files of a source: for an ArtifactGenerator, its sources as well. An
// artifact whose producer is not known may be made of any source of the cluster. seen are the sources digested before.
func (w *walk) sourceDigest(m manifest.Ref, seen map[manifest.Ref]bool) string {
	if seen[m] {
		return ""
	}
	seen[m] = true
	var parts []string
	source := w.find(m)
	switch made := w.generator(m); {
	case made != nil:
		parts = append(parts, documents.JSONOf(made.Object["spec"]))
		for _, ref := range generatedFrom(made) {
			parts = append(parts, w.sourceDigest(ref, seen))
		}
	case source != nil:
		parts = append(parts, contentOf(source))
	case m.Kind == sourcev1.ExternalArtifactKind:
		for _, o := range w.objects() {
			if o.Cluster == m.Cluster && o.Group() == manifest.SourceGroup {
				parts = append(parts, o.GetKind(), o.GetNamespace(), o.GetName(), contentOf(&o))
			}
		}
	}
	return inputs.Digest(parts...)
}

// contentOf returns as text the fields of a source that determine its files.
func contentOf(source *manifest.Object) string {
	spec, _ := source.Object["spec"].(map[string]any)
	relevant := map[string]any{}
	for key, value := range spec {
		if key != "interval" && key != "timeout" && key != "suspend" {
			relevant[key] = value
		}
	}
	return fmt.Sprint(relevant)
}
