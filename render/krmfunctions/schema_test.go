package krmfunctions_test

import (
	"slices"
	"strings"
	"testing"
)

// A schema that refuses each config is found where the catalog is published, and not only where a config needs it.
func TestWarningsAboutSchemas(t *testing.T) {
	const types = "expected one of object, array, string, integer, number, boolean"
	for schema, want := range map[string]string{
		"{type: object, properties: {a: {type: string, pattern: '^a+$'}, b: {type: array, items: {}}, c: {additionalProperties: true}}, required: [a]}": "",
		"{type: object, title: t, description: d, example: 1, x-kubernetes-list-type: map, patternProperties: {}, default: {type: 5}, properties: }":    "",
		"{type: objekt}":                        `the schema has the type "objekt": it refuses each config; ` + types,
		"{properties: {a: {type: [string]}}}":   `the schema has the type a list: it refuses each config; ` + types,
		"{items: {pattern: '('}}":               `the schema has the pattern "(", which is no regular expression of Go: it refuses each config`,
		"{additionalProperties: {required: a}}": `the schema has a string in required: it refuses each config; expected a list of fields`,
		"{anyOf: [{required: [1]}]}":            `the schema has a list in required: it refuses each config; expected a list of fields`,
		"{not: {$ref: '#/a'}}":                  `the schema has a $ref, which is not read: it refuses each config; write the schema in its place`,
		"{type: object, propertys: {}}":         `the schema has the field "propertys", which is not known; did you mean properties?`,
		"{properties: [a]}":                     `the schema has a list in properties: it refuses each config; expected a mapping`,
		"{oneOf: {}}":                           `the schema has a mapping in oneOf: it refuses each config; expected a list`,
		"{properties: {a: string}}":             `the schema has a string in the place of a schema: it refuses each config`,
	} {
		c, problems := load(t, map[string]string{"c.yaml": strings.Replace(complete(image), "{type: object}", schema, 1)})
		got := lines(c.Warnings.Kept)
		got = slices.DeleteFunc(got, func(one string) bool { return strings.Contains(one, "has no digest") })
		if len(problems) > 0 || strings.Join(got, "\n") != strings.TrimSuffix("c.yaml:12: "+want, "c.yaml:12: ") {
			t.Errorf("%s: %q, %q, want %q", schema, problems, got, want)
		}
	}
}
