// SPDX-License-Identifier: Apache-2.0

package cozystack

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// schemaTypes are the types that a schema may have.
func schemaTypes() []string {
	return []string{"array", "boolean", "integer", "null", "number", "object", "string"}
}

// SchemaFaults returns what is wrong with an openAPISchema, whatever the values: it is no schema, or its defaults break it. At
// most maxFindings are returned.
func SchemaFaults(text string) []string {
	schema := &spec.Schema{}
	if err := json.Unmarshal([]byte(text), schema); err != nil {
		return []string{"is no JSON schema: " + excerpt.Of(err.Error())}
	}
	f := faults{fit: fitting{patterns: map[string]*regexp.Regexp{}}}
	if len(schema.Type) > 0 && !schema.Type.Contains("object") {
		f.add("", "has the type %s, want object, as the spec of an application is", strings.Join(schema.Type, ", "))
	}
	f.visit("", schema, f.check)
	if len(f.found) == 0 && f.cost <= maxSchemaCost {
		relax(schema, false)
		f.visit("", schema, f.validate)
	}
	for _, one := range f.fit.found {
		f.add(one.path, "%s", one.message)
	}
	return f.found[:min(len(f.found), maxFindings)]
}

// faults are the faults of a schema.
type faults struct {
	found []string
	fit   fitting
	// cost bounds what the check of the defaults takes, as in CheckSchema.
	cost int
}

func (f *faults) add(path, format string, args ...any) {
	if path != "" {
		path = backend.PrintablePath(path) + ": "
	}
	f.found = append(f.found, path+fmt.Sprintf(format, args...))
}

// visit calls look for a schema and all below it.
func (f *faults) visit(path string, schema *spec.Schema, look func(string, *spec.Schema)) {
	look(path, schema)
	for below := range subschemas(schema) {
		f.visit(path+"[]", below, look)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		member := schema.Properties[name]
		f.visit(strings.TrimPrefix(path+"."+name, "."), &member, look)
	}
}

// check looks at types and patterns, and at the texts in the default.
func (f *faults) check(path string, schema *spec.Schema) {
	for _, one := range schema.Type {
		if !slices.Contains(schemaTypes(), one) {
			f.add(path, "has the type %s, want one of %s", excerpt.Quoted(one), strings.Join(schemaTypes(), ", "))
		}
	}
	if bounded.CheckExpression(schema.Pattern) == nil {
		if _, err := bounded.Compile(schema.Pattern); err != nil {
			f.add(path, "has a pattern that is none: %s", excerpt.Of(err.Error()))
		}
	}
	if schema.Default == nil {
		return
	}
	if f.cost += countSchema(schema) * count(schema.Default); f.cost <= maxSchemaCost {
		f.fit.visit(strings.TrimPrefix(path+".default", "."), schema, schema.Default)
	}
}

// validate compares the default with the schema, whose patterns were compared.
func (f *faults) validate(path string, schema *spec.Schema) {
	if schema.Default == nil {
		return
	}
	at := strings.TrimPrefix(path+".default", ".")
	found, err := validated(schema, at, schema.Default)
	if err != nil {
		f.add(path, "cannot be used: %s", excerpt.Of(err.Error()))
	}
	for _, one := range found {
		f.add("", "%s", backend.PrintablePath(one))
	}
}
