// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/pattern"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

func schemaTypes() []string {
	return []string{"object", "array", "string", "integer", "number", "boolean"}
}

// schemaFields are those of a schema in a CustomResourceDefinition, and of OpenAPI.
func schemaFields() []string {
	return []string{
		"type", "format", "enum", "pattern", "required", "properties", "items", "nullable", "allOf", "anyOf", "oneOf", "not",
		"additionalProperties", "default", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength",
		"maxItems", "minItems", "uniqueItems", "multipleOf", "maxProperties", "minProperties", "patternProperties",
		"additionalItems", "dependencies", "definitions", "id", "$schema", "title", "description", "example", "examples",
		"externalDocs", "readOnly", "writeOnly", "deprecated", "discriminator", "xml",
	}
}

// checkSchema warns of mistakes by which a schema refuses valid configs or accepts invalid ones.
func (r *report) checkSchema(schema *yaml.Node) {
	schema = yamlnode.Resolve(schema)
	if schema.Kind != yaml.MappingNode {
		r.warn(schema.Line, "the schema cannot be read: it has %s in the place of a schema", yamlnode.Describe(schema))
		return
	}
	for _, field := range yamlnode.Entries(schema) {
		if yamlnode.IsNull(field.Value) || strings.HasPrefix(field.Name, "x-") {
			continue
		}
		switch field.Name {
		case "properties":
			r.checkSchemas(field, yaml.MappingNode, "a mapping")
		case "allOf", "anyOf", "oneOf":
			r.checkSchemas(field, yaml.SequenceNode, "a list")
		case "not":
			r.checkSchema(field.Value)
		case "items":
			if field.Value.Kind != yaml.SequenceNode {
				r.checkSchema(field.Value)
			}
		case "additionalProperties":
			if field.Value.ShortTag() != "!!bool" {
				r.checkSchema(field.Value)
			}
		default:
			r.checkSchemaField(field)
		}
	}
}

// checkSchemas checks the schemas in a field, which must be of a kind.
func (r *report) checkSchemas(field yamlnode.Entry, kind yaml.Kind, expected string) {
	if field.Value.Kind != kind {
		r.warn(field.Line, "the schema cannot be read: %s is %s; expected %s", field.Name, yamlnode.Describe(field.Value), expected)
		return
	}
	if kind == yaml.SequenceNode {
		for _, one := range field.Value.Content {
			r.checkSchema(one)
		}
		return
	}
	for _, one := range yamlnode.Entries(field.Value) {
		r.checkSchema(one.Value)
	}
}

// checkSchemaField checks a field without schemas in it.
func (r *report) checkSchemaField(field yamlnode.Entry) {
	text, isText := yamlnode.Text(field.Value)
	switch field.Name {
	case "type":
		expected := strings.Join(schemaTypes(), ", ")
		switch {
		case !isText:
			r.warn(field.Line, "the schema cannot be read: type is %s; expected one of %s", yamlnode.Describe(field.Value), expected)
		case !slices.Contains(schemaTypes(), text):
			r.warn(field.Line, "the schema has the type %s, which no value has; expected one of %s", quote(text), expected)
		}
	case "pattern":
		switch _, err := pattern.Compile(text); {
		case pattern.Check(text) != nil:
			r.warn(field.Line, "the schema has a pattern that is longer than %d bytes, which is not checked", pattern.MaxLength)
		case err != nil || !isText:
			r.warn(field.Line, "the schema has a pattern that is no regular expression of Go: no text conforms to it")
		}
	case "required":
		isName := func(one *yaml.Node) bool { _, isText := yamlnode.Text(yamlnode.Resolve(one)); return isText }
		if field.Value.Kind != yaml.SequenceNode || slices.ContainsFunc(field.Value.Content, func(one *yaml.Node) bool { return !isName(one) }) {
			r.warn(field.Line, "the schema cannot be read: required is %s; expected a list of names", yamlnode.Describe(field.Value))
		}
	case "$ref":
		r.warn(field.Line, "the schema has a $ref, which is not read: no config conforms to it; write the schema in its place")
	default:
		if near := spelling.Nearest(field.Name, schemaFields()); len(near) > 0 && !slices.Contains(schemaFields(), field.Name) {
			r.warn(field.Line, "the schema has the field %s, which is not known; did you mean %s?", quote(field.Name), strings.Join(near, " or "))
		}
	}
}
