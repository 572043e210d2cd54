// SPDX-License-Identifier: Apache-2.0

package cozystack

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

const (
	// maxFindings bounds what is reported of values that do not fit a schema.
	maxFindings = 10
	// maxSchemaCost bounds the nodes of a schema times the nodes of the values, which is the most that a
	// check takes: a second or two.
	maxSchemaCost = 5_000_000
	// maxCompiled bounds the patterns that are kept compiled: a schema may have thousands.
	maxCompiled = 16
)

// CheckSchema refuses values that spec.application.openAPISchema of a definition of Cozystack does not allow.
func CheckSchema(d *draft.Draft) {
	at := d.Spec.Get("application", "openAPISchema")
	text := at.Text()
	if text == "" {
		return
	}
	schema := &spec.Schema{}
	if err := json.Unmarshal([]byte(text), schema); err != nil {
		at.Fault("is no JSON schema: %s", excerpt.Of(err.Error()))
		return
	}
	values := backend.WithoutNulls(d.Values)
	if countSchema(schema)*count(values) > maxSchemaCost {
		at.Fault("is too large for the values of the instance: checking them would take too long")
		return
	}
	fit := fitting{patterns: map[string]*regexp.Regexp{}}
	fit.visit("values", schema, values)
	relax(schema, len(d.ValuesFrom) > 0)
	findings, err := validated(schema, "values", values)
	if err != nil {
		at.Fault("cannot be used: %s", excerpt.Of(err.Error()))
		return
	}
	for _, found := range fit.found[:min(len(fit.found), maxFindings)] {
		d.Refuse(found.path, "%s of the definition %s", found.message, excerpt.Quoted(d.Application.Name))
	}
	for _, found := range findings[:min(len(findings), maxFindings)] {
		d.Refuse("", "spec.application.openAPISchema of the definition %s: %s", excerpt.Quoted(d.Application.Name), backend.PrintablePath(found))
	}
}

// validated validates values. The validator panics on schemas that it does not support, and a catalog is untrusted.
func validated(schema *spec.Schema, path string, values any) (found []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, fmt.Errorf("%v", r)
		}
	}()
	result := validate.NewSchemaValidator(schema, nil, path, strfmt.Default).Validate(values)
	found = append(found, each.Map(result.Errors, error.Error)...)
	slices.Sort(found)
	return slices.Compact(found), nil
}

// fitting finds members that a schema has no place for, and texts that do not match its patterns. The validator
// knows no unknown members, and caches every pattern for ever.
type fitting struct {
	found    []mismatch
	patterns map[string]*regexp.Regexp
}

type mismatch struct{ path, message string }

func (f *fitting) visit(path string, schema *spec.Schema, value any) {
	switch typed := value.(type) {
	case string:
		f.match(path, schema.Pattern, typed)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			f.member(path+"."+name, name, schema, typed[name])
		}
	case []any:
		if schema.UniqueItems {
			f.unique(path, typed)
		}
		for i, element := range typed {
			if schema.Items != nil && schema.Items.Schema != nil {
				f.visit(backend.Indexed(path, i), schema.Items.Schema, element)
			}
		}
	}
}

// unique finds an element that is there twice: the validator compares each with each.
func (f *fitting) unique(path string, list []any) {
	known := map[string]int{}
	for i, element := range list {
		encoded, _ := json.Marshal(element) // which was JSON
		if first, twice := known[string(encoded)]; twice {
			f.found = append(f.found, mismatch{backend.Indexed(path, i), fmt.Sprintf("is the element %d once more, which uniqueItems refuses in spec.application.openAPISchema", first)})
			return
		}
		known[string(encoded)] = i
	}
}

// member visits a member. A mapping may have any, if its schema lists none.
func (f *fitting) member(path, name string, schema *spec.Schema, value any) {
	member, known := schema.Properties[name]
	additional := schema.AdditionalProperties
	switch {
	case known:
		f.visit(path, &member, value)
	case additional != nil && additional.Schema != nil:
		f.visit(path, additional.Schema, value)
	case len(schema.Properties) > 0 && !allowsAny(schema):
		f.found = append(f.found, mismatch{path, "is not in spec.application.openAPISchema"})
	}
}

func allowsAny(schema *spec.Schema) bool {
	preserves, _ := schema.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	additional := schema.AdditionalProperties
	return preserves || additional != nil && additional.Allows || len(schema.AllOf)+len(schema.AnyOf)+len(schema.OneOf) > 0
}

func (f *fitting) match(path, expression, text string) {
	if expression == "" {
		return
	}
	compiled, known := f.patterns[expression]
	if !known {
		if len(f.patterns) == maxCompiled {
			clear(f.patterns)
		}
		compiled, _ = bounded.Compile(expression) // the API server checks those that cannot be compiled
		f.patterns[expression] = compiled
	}
	if compiled != nil && !compiled.MatchString(text) {
		f.found = append(f.found, mismatch{path, fmt.Sprintf("%s does not match the pattern %s in spec.application.openAPISchema", excerpt.Quoted(text), excerpt.Quoted(expression))})
	}
}

// relax makes members with a default optional, as the API server sets defaults before it validates, and all
// members where some of the values are not known. It removes patterns and uniqueItems, which fitting checks.
func relax(schema *spec.Schema, optional bool) {
	schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool {
		return optional || schema.Properties[name].Default != nil
	})
	// Without these the one alternative that fits may become two, and what must not fit may fit.
	if slices.ContainsFunc(schema.OneOf, func(one spec.Schema) bool { return isRelaxed(&one) }) {
		schema.OneOf = nil
	}
	if schema.Not != nil && (optional || isRelaxed(schema.Not)) {
		schema.Not = nil
	}
	schema.Pattern, schema.UniqueItems = "", false
	for below := range subschemas(schema) {
		relax(below, optional)
	}
	for name, member := range schema.Properties {
		relax(&member, optional)
		schema.Properties[name] = member
	}
}

// isRelaxed reports whether relax takes something from a schema.
func isRelaxed(schema *spec.Schema) bool {
	if schema.Pattern != "" || schema.UniqueItems {
		return true
	}
	for below := range subschemas(schema) {
		if isRelaxed(below) {
			return true
		}
	}
	for _, member := range schema.Properties {
		if isRelaxed(&member) {
			return true
		}
	}
	return false
}

// subschemas yields the schemas directly below a schema, except for the schemas of its properties.
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
