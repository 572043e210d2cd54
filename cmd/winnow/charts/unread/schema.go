// SPDX-License-Identifier: Apache-2.0

package unread

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// maxSchemas bounds the schemas in a values.schema.json that are looked into.
const maxSchemas = 1000

// schema adds the properties that a values.schema.json has for the values as a whole. If it has patterns for them, or refers to
// another file, they are all read.
func (r *reads) schema(content []byte) {
	var root map[string]any
	if json.Unmarshal(content, &root) != nil { // Helm refuses the chart
		return
	}
	pending := []any{root}
	for seen := 0; len(pending) > 0; seen++ {
		if seen == maxSchemas {
			r.all = true
			return
		}
		one, isSchema := pending[0].(map[string]any)
		pending = pending[1:]
		if isSchema {
			pending = append(pending, r.oneSchema(root, one)...)
		}
	}
}

// oneSchema adds the properties of a schema. It returns the schemas in it that are about the same values.
func (r *reads) oneSchema(root, schema map[string]any) (further []any) {
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		r.keys[name] = true
	}
	_, hasPatterns := schema["patternProperties"]
	r.entirely(hasPatterns)
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		alternatives, _ := schema[name].([]any)
		further = append(further, alternatives...)
	}
	for _, name := range []string{"if", "then", "else"} {
		further = append(further, schema[name])
	}
	if dependent, ok := schema["dependentSchemas"].(map[string]any); ok {
		further = slices.AppendSeq(further, maps.Values(dependent))
	}
	if reference, ok := schema["$ref"].(string); ok {
		further = append(further, r.referred(root, reference))
	}
	return further
}

// referred returns the schema that a reference leads to; nil if it is in another file.
func (r *reads) referred(root any, reference string) any {
	pointer, isHere := strings.CutPrefix(reference, "#")
	r.entirely(!isHere)
	for element := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if at, ok := root.(map[string]any); ok && element != "" {
			root = at[element]
		}
	}
	return root
}
