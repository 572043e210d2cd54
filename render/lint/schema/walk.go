// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// reportRule adds a finding of a rule in the line of a field.
type reportRule func(rule string, at field.Field, format string, args ...any)

// schemaCheck compares a document with the schema of its definition.
type schemaCheck struct {
	required string
	report   reportRule
}

// value checks a value that is set. Documents are bounded, and so is the recursion.
func (c schemaCheck) value(at field.Field, known *apiextensionsv1.JSONSchemaProps) {
	if !fits(at, known.Type) {
		c.report(typeRule, at, "%s must be %s, not %s%s", shownPath(at), typeNames[known.Type], yamlnode.Describe(at.Node), remedy(at, known))
		return
	}
	switch at.Node.Kind {
	case yaml.MappingNode:
		c.mapping(at, known)
	case yaml.SequenceNode:
		for _, element := range at.Items() {
			if known.Items != nil {
				c.below(element, known.Items.Schema)
			}
		}
	case yaml.ScalarNode:
		c.text(at, known)
	}
}

// typeNames are the types of JSON for people.
var typeNames = map[string]string{"string": "a string", "boolean": "a boolean", "integer": "a number", "array": "a list", "object": "a mapping"}

// fits reports whether a value has a type. Of a type that is not known every value is.
func fits(at field.Field, wanted string) bool {
	has := "string" // what else YAML knows, JSON writes as text
	switch tag := at.Node.ShortTag(); {
	case at.Node.Kind == yaml.SequenceNode:
		has = "array"
	case at.Node.Kind == yaml.MappingNode:
		has = "object"
	case tag == "!!bool":
		has = "boolean"
	case tag == "!!int" || tag == "!!float":
		has = "integer"
	}
	return wanted == "" || has == wanted
}

// text checks what a text may be.
func (c schemaCheck) text(at field.Field, known *apiextensionsv1.JSONSchemaProps) {
	choices := each.Map(known.Enum, func(one apiextensionsv1.JSON) string { return strings.Trim(string(one.Raw), `"`) })
	switch {
	case known.MinLength != nil && at.Node.Value == "":
		c.report(c.required, at, "%s is empty", shownPath(at))
	case choices != nil && !slices.Contains(choices, at.Node.Value):
		c.report(valueRule, at, "%s must be one of %s, not %s", shownPath(at), strings.Join(choices, ", "), excerpt.Quoted(at.Node.Value))
	case known.Pattern != "" && !regexp.MustCompile(known.Pattern).MatchString(at.Node.Value):
		c.report(valueRule, at, "%s must match %s, which %s does not", shownPath(at), known.Pattern, excerpt.Quoted(at.Node.Value))
	}
}

func (c schemaCheck) below(at field.Field, known *apiextensionsv1.JSONSchemaProps) {
	switch {
	case at.IsSet():
		c.value(at, known)
	case known.Type != "" && known.Default == nil: // which the API server puts in the place of null
		c.report(typeRule, at, "%s must be %s, not null: leave it out", shownPath(at), typeNames[known.Type])
	}
}

func (c schemaCheck) mapping(at field.Field, known *apiextensionsv1.JSONSchemaProps) {
	for _, member := range at.Members() {
		schema, ok := known.Properties[member.Name]
		switch {
		case known.AdditionalProperties != nil:
			c.below(member.Field, known.AdditionalProperties.Schema)
		case known.Properties == nil:
		case !ok:
			c.unknown(member, known)
		case member.IsSet() || !slices.Contains(known.Required, member.Name): // null is missing, see below
			c.below(member.Field, &schema)
		}
	}
	for _, name := range known.Required {
		if member := at.Get(name); !member.IsSet() {
			c.report(c.required, member, "%s is missing", member.Path)
		}
	}
}

func (c schemaCheck) unknown(at field.Entry, known *apiextensionsv1.JSONSchemaProps) {
	if meant := spelling.Typo(at.Name, slices.Sorted(maps.Keys(known.Properties))); meant != "" {
		c.report(misspeltFieldRule, at.Field, "%s is no field: did you mean %s?", shownPath(at.Field), meant)
		return
	}
	c.report(unknownFieldRule, at.Field, "%s is a field that Winnow does not know: an API that does not have it refuses all applications",
		shownPath(at.Field))
}

// maxPath bounds the path of a field in a message, in bytes: keys are free in some mappings.
const maxPath = 160

func shownPath(at field.Field) string { return excerpt.To(at.Path, maxPath) }

// remedy states how a value becomes text.
func remedy(at field.Field, known *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case known.Type != "string":
		return ""
	case at.Node.Kind == yaml.ScalarNode:
		return ": put it in quotes"
	case at.Node.Kind == yaml.MappingNode:
		return fmt.Sprintf(": write %s: | and the text below it", excerpt.Of(at.Path[strings.LastIndex(at.Path, ".")+1:]))
	}
	return ""
}
