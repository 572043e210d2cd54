package crds

import (
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/winnow-dev/winnow/render/spelling"
)

// unknownField says of a path that the schema does not have it, and which of the fields beside it may
// be meant.
func (v *version) unknownField(path string) string {
	const message = "unknown field: the CustomResourceDefinition does not have it"
	parent, name := parentOf(v.structural, path)
	if parent == nil {
		return message
	}
	near := spelling.Nearest(name, slices.Collect(maps.Keys(parent.Properties)))
	if len(near) == 0 {
		return message
	}
	return message + "; did you mean " + near[0] + "?"
}

// parentOf returns the schema of the mapping that a path leads to, and the last name in the path; nil
// where a key with dots, or what is no schema's, is in the way.
func parentOf(at *structuralschema.Structural, path string) (*structuralschema.Structural, string) {
	names := strings.Split(path, ".")
	last := len(names) - 1
	for _, name := range names[:last] {
		property, _, _ := strings.Cut(name, "[")
		next, ok := at.Properties[property]
		if !ok {
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
