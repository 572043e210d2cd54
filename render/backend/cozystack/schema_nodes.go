// SPDX-License-Identifier: Apache-2.0

package cozystack

import (
	"iter"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// relax makes members with a default optional, as the API server sets defaults before it validates, and all
// members where some of the values are not known. It removes patterns, which fitting checks.
func relax(schema *spec.Schema, optional bool) {
	schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool {
		return optional || schema.Properties[name].Default != nil
	})
	// Without a pattern the one alternative that fits may become two, and what must not fit may fit.
	if slices.ContainsFunc(schema.OneOf, func(one spec.Schema) bool { return hasPattern(&one) }) {
		schema.OneOf = nil
	}
	if schema.Not != nil && (optional || hasPattern(schema.Not)) {
		schema.Not = nil
	}
	schema.Pattern = ""
	for below := range subschemas(schema) {
		relax(below, optional)
	}
	for name, member := range schema.Properties {
		relax(&member, optional)
		schema.Properties[name] = member
	}
}

func hasPattern(schema *spec.Schema) bool {
	if schema.Pattern != "" {
		return true
	}
	for below := range subschemas(schema) {
		if hasPattern(below) {
			return true
		}
	}
	for _, member := range schema.Properties {
		if hasPattern(&member) {
			return true
		}
	}
	return false
}

// subschemas yields the schemas directly below a schema, but for those of its properties.
func subschemas(schema *spec.Schema) iter.Seq[*spec.Schema] {
	return func(yield func(*spec.Schema) bool) {
		below := []*spec.Schema{schema.Not}
		if schema.Items != nil {
			below = append(below, schema.Items.Schema)
		}
		if schema.AdditionalProperties != nil {
			below = append(below, schema.AdditionalProperties.Schema)
		}
		for _, list := range [][]spec.Schema{schema.AllOf, schema.AnyOf, schema.OneOf} {
			for i := range list {
				below = append(below, &list[i])
			}
		}
		for _, one := range below {
			if one != nil && !yield(one) {
				return
			}
		}
	}
}

func countSchema(schema *spec.Schema) int {
	n := 1 + len(schema.Enum)
	for below := range subschemas(schema) {
		n += countSchema(below)
	}
	for _, member := range schema.Properties {
		n += countSchema(&member)
	}
	return n
}

func count(value any) int {
	n := 1
	switch typed := value.(type) {
	case map[string]any:
		for _, member := range typed {
			n += count(member)
		}
	case []any:
		for _, element := range typed {
			n += count(element)
		}
	}
	return n
}
