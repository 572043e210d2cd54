// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

// writeSchemas writes a JSON schema of each kind of document, from its Go type.
func writeSchemas(dir string) error {
	for _, one := range root.Documents() {
		content, err := json.Marshal(one)
		if err != nil {
			return err
		}
		var head output.Document
		if err := json.Unmarshal(content, &head); err != nil {
			return err
		}
		schema := schemaOf(reflect.TypeOf(one))
		schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		schema["title"] = head.Kind
		properties := schema["properties"].(map[string]any)
		properties["apiVersion"] = map[string]any{"type": "string", "enum": []string{head.APIVersion}}
		properties["kind"] = map[string]any{"type": "string", "enum": []string{head.Kind}}
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, head.Kind+".json"), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf returns the schema of a type, as encoding/json encodes it. An interface may be anything.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return map[string]any{"type": "string", "format": "date-time"}
		}
		properties := map[string]any{}
		required := addFields(t, properties, []string{})
		return map[string]any{"type": "object", "properties": properties, "required": required}
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Interface:
		return map[string]any{}
	}
	panic("no schema for " + t.String())
}

// addFields adds the fields of a struct to properties, and returns required with those that are never absent.
func addFields(t reflect.Type, properties map[string]any, required []string) []string {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			within := field.Type
			if within.Kind() == reflect.Pointer { // absent with all of its fields
				addFields(within.Elem(), properties, nil)
				continue
			}
			required = addFields(within, properties, required)
		case name == "" || name == "-":
		default:
			properties[name] = schemaOf(field.Type)
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				required = append(required, name)
			}
		}
	}
	return required
}
