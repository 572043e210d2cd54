// SPDX-License-Identifier: Apache-2.0

package krmfunctions_test

import (
	"slices"
	"strings"
	"testing"
)

// A mistake in a schema is found where the catalog is published, and not only where a config needs it.
func TestWarningsAboutSchemas(t *testing.T) {
	const types = "expected one of object, array, string, integer, number, boolean"
	for schema, want := range map[string]string{
		"{type: object, properties: {a: {type: string, pattern: '^a+$'}, b: {type: array, items: {}}, c: {additionalProperties: true}}, required: [a]}": "",
		"{type: object, title: t, description: d, example: 1, x-kubernetes-list-type: map, patternProperties: {}, default: {type: 5}, properties: }":    "",
		"{type: objekt}":                      `the schema has the type "objekt", which no value has; ` + types,
		"{properties: {a: {type: [string]}}}": `the schema cannot be read: type is a list; ` + types,
		"{items: {pattern: '('}}":             `the schema has a pattern that is no regular expression of Go: no text conforms to it`,
		"{items: {pattern: '" + strings.Repeat("x{1000}", 3000) + "'}}": `the schema has a pattern that is longer than 1000 bytes, which is not checked`,
		"{additionalProperties: {required: a}}":                         `the schema cannot be read: required is a string; expected a list of names`,
		"{anyOf: [{required: [1]}]}":                                    `the schema cannot be read: required is a list; expected a list of names`,
		"{not: {$ref: '#/a'}}":                                          `the schema has a $ref, which is not read: no config conforms to it; write the schema in its place`,
		"{type: object, propertys: {}}":                                 `the schema has the field "propertys", which is not known; did you mean properties?`,
		"{properties: [a]}":                                             `the schema cannot be read: properties is a list; expected a mapping`,
		"{oneOf: {}}":                                                   `the schema cannot be read: oneOf is a mapping; expected a list`,
		"{properties: {a: string}}":                                     `the schema cannot be read: it has a string in the place of a schema`,
	} {
		c, problems := load(t, map[string]string{"c.yaml": strings.Replace(complete(image), "{type: object}", schema, 1)})
		got := lines(c.Warnings.Kept)
		got = slices.DeleteFunc(got, func(one string) bool { return strings.Contains(one, "has no digest") })
		if len(problems) > 0 || strings.Join(got, "\n") != strings.TrimSuffix("c.yaml:12: "+want, "c.yaml:12: ") {
			t.Errorf("%s: %q, %q, want %q", schema, problems, got, want)
		}
	}
}
