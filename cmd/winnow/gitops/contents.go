package gitops

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// An ArtifactGenerator of source-watcher makes ExternalArtifacts of the files of sources.
const (
	generatorGroup = "source.extensions.fluxcd.io"
	generatorKind  = "ArtifactGenerator"
)

// maxGenerators bounds the ArtifactGenerators that take files of each other.
const maxGenerators = 8

// generator returns the ArtifactGenerator that makes an ExternalArtifact, nil for none.
func (w *walk) generator(m objectRef) *Object {
	if m.kind != sourcev1.ExternalArtifactKind {
		return nil
	}
	for _, o := range w.objects() {
		named := func(artifact map[string]any) bool { return artifact["name"] == m.name.Name }
		if o.Cluster == m.cluster && o.group() == generatorGroup && o.GetKind() == generatorKind && o.GetNamespace() == m.name.Namespace &&
			slices.ContainsFunc(mapsAt(o.Unstructured, "spec", "artifacts"), named) {
			return &o
		}
	}
	return nil
}

// mapsAt returns the objects of a list.
func mapsAt(o *unstructured.Unstructured, fields ...string) []map[string]any {
	all, _, _ := unstructured.NestedSlice(o.Object, fields...)
	var found []map[string]any
	for _, one := range all {
		if fields, ok := one.(map[string]any); ok {
			found = append(found, fields)
		}
	}
	return found
}

// takes returns the directories of this repository whose files a source has, or may have, at a path.
func (w *walk) takes(m objectRef, dir string, depth int) []string {
	if made := w.generator(m); made != nil && depth < maxGenerators {
		return w.copies(made, m.name.Name, depth)
	}
	_, at, err := w.resolve(m)
	var other *elsewhere
	switch {
	case err == nil:
		return []string{path.Join(at, dir)}
	case !errors.As(err, &other) || !other.here, other.ask && dir == "." && w.recognizes():
		return nil
	}
	return []string{dir}
}

// copies returns the directories of this repository that an ArtifactGenerator takes the files of an artifact from.
func (w *walk) copies(made *Object, artifact string, depth int) (dirs []string) {
	for _, source := range mapsAt(made.Unstructured, "spec", "sources") {
		text := func(key string) string { value, _ := source[key].(string); return value }
		ref := objectRef{made.Cluster, sourceGroup, text("kind"), types.NamespacedName{Namespace: text("namespace"), Name: text("name")}}
		if ref.name.Namespace == "" {
			ref.name.Namespace = made.GetNamespace()
		}
		for _, one := range mapsAt(made.Unstructured, "spec", "artifacts") {
			if one["name"] != artifact {
				continue
			}
			for _, step := range mapsAt(&unstructured.Unstructured{Object: one}, "copy") {
				from, _ := step["from"].(string)
				if within, found := strings.CutPrefix(from, "@"+text("alias")+"/"); found {
					if glob := strings.IndexAny(within, "*?[{"); glob >= 0 {
						within = path.Dir(within[:glob] + "x")
					}
					dirs = append(dirs, w.takes(ref, pathOf(within), depth+1)...)
				}
			}
		}
	}
	return dirs
}

// hide adds to a CatalogSelection what of its catalogs is files of this repository: these are not read as a catalog.
func (w *walk) hide(o *Object) {
	for i, m := range o.sources() {
		if _, named := w.self.find(m.name); m.kind == sourcev1.OCIRepositoryKind && !named {
			continue
		}
		within, _ := mapsAt(o.Unstructured, "spec", "sources")[i]["path"].(string)
		dirs := w.takes(m, pathOf(within), 0)
		if len(dirs) == 0 {
			continue
		}
		parts := []string{o.Hidden, w.sourceDigest(m)}
		for _, name := range slices.Sorted(maps.Keys(w.tree.files)) {
			if slices.ContainsFunc(dirs, func(dir string) bool { return contains(dir, name) }) {
				parts = append(parts, name, w.tree.files[name].id)
			}
		}
		o.Hidden = digest(parts...)
		o.Unknown = append(o.Unknown, fmt.Sprintf("source %s: its catalog is made of files of this repository, which are not read here", m.name.Name))
	}
}
