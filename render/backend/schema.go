package backend

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/winnow-dev/winnow/render/excerpt"
)

const (
	// maxFindings bounds what is reported of values that do not fit a schema.
	maxFindings = 10
	// maxSchemaCost bounds the nodes of a schema times those of the values, which is the most that a check
	// takes: a second or two.
	maxSchemaCost = 5_000_000
)

// checkSchema refuses values that spec.application.openAPISchema of a definition of Cozystack does not allow.
func (d *draft) checkSchema() {
	at := d.spec.get("application", "openAPISchema")
	text := at.text()
	if text == "" {
		return
	}
	openAPI := &spec.Schema{}
	if err := json.Unmarshal([]byte(text), openAPI); err != nil {
		at.fault("is no JSON schema: %s", excerpt.Of(err.Error()))
		return
	}
	values := withoutNulls(d.Values)
	if cost := countSchema(openAPI) * count(values); cost > maxSchemaCost {
		at.fault("is too large for the values of the instance: checking them would take too long")
		return
	}
	relax(openAPI, len(d.ValuesFrom) > 0)
	findings, err := findings(openAPI, values)
	if err != nil {
		at.fault("cannot be used: %s", excerpt.Of(err.Error()))
		return
	}
	unknown := unknownFields("values", openAPI, values)
	for _, path := range unknown[:min(len(unknown), maxFindings)] {
		d.refuse(path, "is not in spec.application.openAPISchema of the definition %s", quote(d.Application.Name))
	}
	for _, finding := range findings[:min(len(findings), maxFindings)] {
		d.refuse("", "spec.application.openAPISchema of the definition %s: %s", quote(d.Application.Name), excerpt.To(finding, maxPath))
	}
}

// findings validates values. The validator panics on schemas that it does not support, and a catalog is untrusted.
func findings(schema *spec.Schema, values map[string]any) (found []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, fmt.Errorf("%v", r)
		}
	}()
	result := validate.NewSchemaValidator(schema, nil, "values", strfmt.Default).Validate(values)
	for _, problem := range result.Errors {
		found = append(found, problem.Error())
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// unknownFields returns the paths of members that the schema has no place for. A mapping of which the schema lists
// no members may have any.
func unknownFields(path string, schema *spec.Schema, value any) (unknown []string) {
	if schema == nil {
		return nil
	}
	switch typed := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			member, known := schema.Properties[name]
			additional := schema.AdditionalProperties
			switch {
			case known:
				unknown = append(unknown, unknownFields(path+"."+name, &member, typed[name])...)
			case additional != nil && additional.Schema != nil:
				unknown = append(unknown, unknownFields(path+"."+name, additional.Schema, typed[name])...)
			case len(schema.Properties) > 0 && !allowsAny(schema):
				unknown = append(unknown, path+"."+name)
			}
		}
	case []any:
		if schema.Items == nil || schema.Items.Schema == nil {
			return nil
		}
		for i, element := range typed {
			unknown = append(unknown, unknownFields(indexed(path, i), schema.Items.Schema, element)...)
		}
	}
	return unknown
}

func allowsAny(schema *spec.Schema) bool {
	preserves, _ := schema.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	additional := schema.AdditionalProperties
	return preserves || additional != nil && additional.Allows || len(schema.AllOf)+len(schema.AnyOf)+len(schema.OneOf) > 0
}

// relax makes members with a default optional, as the API server sets defaults before it validates, and all
// members where some of the values are not known.
func relax(schema *spec.Schema, all bool) {
	schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool {
		return all || schema.Properties[name].Default != nil
	})
	for below := range subschemas(schema) {
		relax(below, all)
	}
	for name, member := range schema.Properties {
		relax(&member, all)
		schema.Properties[name] = member
	}
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
