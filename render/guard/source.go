// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
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
	// Checksum of its revision, <algorithm>:<hex>, which approvals name; empty when unknown.
	Checksum string
	// Digest of its artifact, which may differ at the same revision; may be empty.
	Digest string
	// Filter is what Flux takes from the revision, as FilterOf returns it; empty for the default.
	Filter  string
	Catalog *catalog.Catalog
}

// FilterOf returns what spec.ignore and spec.layerSelector of a source of Flux take from a revision, in a short form that
// differs where one of them does; empty by default.
func FilterOf(ignore *string, mediaType, operation string) string {
	if operation == "extract" { // what Flux does by default
		operation = ""
	}
	if ignore == nil && mediaType == "" && operation == "" {
		return ""
	}
	patterns := "unset"
	if ignore != nil {
		patterns = strconv.Quote(*ignore)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q", patterns, mediaType, operation))
	return hex.EncodeToString(sum[:16])
}

// SourceOf returns the source that a reference in cs names, with its content.
func SourceOf(cs *v1alpha1.CatalogSelection, ref v1alpha1.SourceReference, content selection.Source) Source {
	kind, name := SourceKey(cs, ref)
	return Source{Kind: kind, Name: name, Path: ref.Path, Checksum: content.Digest, Catalog: content.Catalog}
}

// selection converts the source for render.Render.
func (s Source) selection() selection.Source {
	return selection.Source{Name: s.Name.Name, Digest: s.Checksum, Catalog: s.Catalog}
}

// Selections converts the sources for render.Render.
func Selections(sources []Source) []selection.Source {
	out := make([]selection.Source, len(sources))
	for i, s := range sources {
		out[i] = s.selection()
	}
	return out
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

// Checksums returns the known checksums of the sources, sorted and each once.
func Checksums(sources []Source) []string {
	var sums []string
	for _, s := range sources {
		if s.Checksum != "" {
			sums = append(sums, s.Checksum)
		}
	}
	slices.Sort(sums)
	return slices.Compact(sums)
}
