// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// Resolve resolves the sources of a selection, in the order of the spec. unknown has a sentence for each
// source that does not resolve.
func (r *Set) Resolve(cs Selection) (references []Reference, unknown []string) {
	for _, ref := range cs.Spec.Sources {
		var found Reference
		source, err := r.SourceOf(cs, ref)
		if err == nil {
			found, err = source.Reference()
		}
		if err == nil && found.SemVer != "" {
			err = errors.New("its ref.semver is not resolved here: name a tag or a digest")
		}
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("source %s: %v", ref.Name, err))
		}
		references = append(references, found)
	}
	return references, unknown
}

// SourceOf returns the object that a source of a selection names. The error is the reason why it is not known.
func (r *Set) SourceOf(cs Selection, ref v1alpha1.SourceReference) (Source, error) {
	nearest := r.sourcesOf(cs, ref)
	if len(nearest) == 0 {
		kind, _ := guard.SourceKey(cs.CatalogSelection, ref)
		return Source{}, fmt.Errorf("no %s of this name is among the files", kind)
	}
	return nearest[0], SameDocument(nearest)
}

// sourcesOf returns the sources that have the name of one of a selection.
func (r *Set) sourcesOf(cs Selection, ref v1alpha1.SourceReference) []Source {
	kind, key := guard.SourceKey(cs.CatalogSelection, ref)
	nearest := r.Nearest(cs.Origin, kind, key)
	if len(nearest) == 0 && cs.Cluster != "" {
		// Another program than Flux may apply the sources.
		nearest = r.Nearest(Origin{File: cs.Place()}, kind, key)
	}
	return nearest
}

// Unused returns the sources of a kind that no Kustomization and no selection of the commit has.
func (r *Set) Unused(kind string) []Source {
	used := map[[5]string]bool{}
	key := func(s Source) [5]string { return [5]string{s.Kind, s.Cluster, s.File, s.Namespace, s.Name} }
	for _, k := range r.Consumers {
		for _, s := range r.Nearest(k.Origin, k.Kind, k.SourceName) {
			used[key(s)] = true
		}
	}
	for _, cs := range r.Selections {
		if cs.Invalid != nil {
			continue
		}
		for _, ref := range cs.Spec.Sources {
			for _, s := range r.sourcesOf(cs, ref) {
				used[key(s)] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Sources), func(s Source) bool { return s.Kind != kind || used[key(s)] })
}

// SameDocument returns an error if the documents of the sources differ.
func SameDocument(sources []Source) error {
	for _, other := range sources[1:] {
		if other.document != sources[0].document {
			return fmt.Errorf("there are several: %s and %s have one", sources[0].File, other.File)
		}
	}
	return nil
}

// Nearest returns the sources of the cluster, or without a cluster those in the nearest directory, which may be one that
// is built alone.
func (r *Set) Nearest(where Origin, kind string, key types.NamespacedName) []Source {
	return Best(r.Sources, func(s Source) int {
		// kustomize may set a namespace that is missing in the file.
		anywhere := key.Namespace == "" || s.Namespace == "" || s.Namespace == key.Namespace
		switch {
		case s.Cluster != where.Cluster && (where.Cluster != "" || !s.Alone) || s.Kind != kind || s.Name != key.Name || !anywhere:
			return -1
		case where.Cluster != "":
			return 0
		}
		return CommonDirectories(where.File, s.Place())
	})
}

// Best returns the values with the highest score, in their order, but none with a negative score.
func Best[T any](all []T, score func(T) int) (best []T) {
	most := 0
	for _, one := range all {
		reached := score(one)
		if reached > most {
			most, best = reached, nil
		}
		if reached == most {
			best = append(best, one)
		}
	}
	return best
}
