// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/each"
)

// Ref is a reference to an object of a cluster. An empty Group is the core group.
type Ref struct {
	Cluster, Group, Kind string
	Name                 types.NamespacedName
}

// renames matches content that changes the names of objects, so that their files do not contain them.
var renames = regexp.MustCompile(`(?i)name(prefix|suffix)|prefixsuffix|prefixtransformer|suffixtransformer|metadata[/.]name|\bname["']?\s*:[^\n]*\$\{`)

// RenamesObjects reports whether content may change the names of objects, so that their files do not contain them.
func RenamesObjects(content []byte) bool {
	return documents.Mentions(content) || renames.Match(content)
}

// HasKind reports whether a file contains the kind of the object.
func (m Ref) HasKind(content []byte) bool {
	return documents.Mentions(content) || bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(m.Kind)))
}

// HasName reports whether a file contains the name of the object, or changes names.
func (m Ref) HasName(content []byte) bool {
	return bytes.Contains(content, []byte(m.Name.Name)) || RenamesObjects(content)
}

// MayBeIn reports whether content may have the object.
func (m Ref) MayBeIn(content []byte) bool { return m.HasKind(content) && m.HasName(content) }

// SourceIn returns the reference to a source that fields of an object have. namespace is the default.
func SourceIn(fields map[string]any, cluster, namespace string) Ref {
	text := func(key string) string { value, _ := fields[key].(string); return value }
	return Ref{cluster, SourceGroup, text("kind"), types.NamespacedName{Namespace: cmp.Or(text("namespace"), namespace), Name: text("name")}}
}

// Sources returns references to the sources of a CatalogSelection, in the order of the spec, and none for other objects.
func (o Object) Sources() []Ref {
	if o.Group() != v1alpha1.GroupVersion.Group || o.GetKind() != v1alpha1.CatalogSelectionKind {
		return nil
	}
	return each.Map(MapsAt(o.Unstructured, "spec", "sources"), func(fields map[string]any) Ref {
		m := SourceIn(fields, o.Cluster, o.GetNamespace())
		m.Kind = cmp.Or(m.Kind, sourcev1.OCIRepositoryKind)
		return m
	})
}
