// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
)

// defaultKind is the kind of a reference without one.
const defaultKind = "OCIRepository"

// Source is a source of a render.
type Source struct {
	// Kind and Name of the Flux object, and Path inside its artifact.
	Kind string
	Name types.NamespacedName
	Path string
	// Checksum of its revision, <algorithm>:<hex>; empty when unknown.
	Checksum string
	Catalog  *catalog.Catalog
}

// SourceOf returns the source that a reference in cs names, with its content.
func SourceOf(cs *v1alpha1.CatalogSelection, ref v1alpha1.SourceReference, content selection.Source) Source {
	kind, name := SourceKey(cs, ref)
	return Source{Kind: kind, Name: name, Path: ref.Path, Checksum: content.Digest, Catalog: content.Catalog}
}

// Selections converts the sources for render.Render.
func Selections(sources []Source) []selection.Source {
	return each.Map(sources, func(s Source) selection.Source {
		return selection.Source{Name: s.Name.Name, Digest: s.Checksum, Catalog: s.Catalog}
	})
}

// Checksum returns the checksum part of a revision, <algorithm>:<hex>, which for an
// OCIRepository is the digest of the manifest. A revision may be a checksum alone.
func Checksum(revision string) string {
	return revision[strings.LastIndexByte(revision, '@')+1:]
}

// SourceKey returns the kind and the full name of a reference in cs, with the defaults filled in.
func SourceKey(cs *v1alpha1.CatalogSelection, ref v1alpha1.SourceReference) (string, types.NamespacedName) {
	return cmp.Or(ref.Kind, defaultKind), types.NamespacedName{Namespace: cmp.Or(ref.Namespace, cs.Namespace), Name: ref.Name}
}
