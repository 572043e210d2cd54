// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/winnow-dev/winnow/render/spelling"
)

// advise suggests a sibling field with a name similar to an unknown one, empty for none.
func (v *version) advise(path string) string {
	parent, name := parentOf(v.structural, path)
	if parent == nil {
		return ""
	}
	near := spelling.Nearest(name, slices.Collect(maps.Keys(parent.Properties)))
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + near[0] + "?"
}

// parentOf returns the schema of the mapping that contains a path, and the last name in the path. It
// returns nil if the path has a key with dots, or one without a schema.
func parentOf(at *structuralschema.Structural, path string) (*structuralschema.Structural, string) {
	names := strings.Split(path, ".")
	last := len(names) - 1
	for _, name := range names[:last] {
		property, _, _ := strings.Cut(name, "[")
		next, ok := at.Properties[property]
		switch {
		case ok:
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			next = *at.AdditionalProperties.Structural
		default:
			return nil, ""
		}
		for range strings.Count(name, "[") {
			if next.Items == nil {
				return nil, ""
			}
			next = *next.Items
		}
		at = &next
	}
	return at, names[last]
}
