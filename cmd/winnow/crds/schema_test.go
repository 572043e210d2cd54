// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/dialect"
)

func TestSchemaOutsideOfADefinition(t *testing.T) {
	const logger = `{type: object, properties: {spec: {type: object, required: [path], properties: {path: {type: string}, level: {type: integer, default: 1}}}}}`
	for _, test := range []struct {
		name, schema, object string
		want                 []string
	}{
		{"an object that is right, without a name", logger, "kind: A\nspec: {path: a}", nil},
		{"metadata that only kustomize reads", logger, "metadata: {name: A_b, annotations: {a/b: c}}\nspec: {path: a}", nil},
		{"a missing field", logger, "spec: {level: 1}", []string{"spec.path: Required value"}},
		{"a wrong type", logger, "spec: {path: 1}", []string{`spec.path: Invalid value: "integer": spec.path in body must be of type string`}},
		{"an unknown field", logger, "spec: {path: a, pth: b}", []string{"spec.pth: unknown field: the schema does not have it; did you mean path?"}},
		{"an object without listed fields", "{type: object}", "spec: {a: {b: 1}}", nil},
		{"a schema that is not structural", "{properties: {spec: {required: [path]}}}", "spec: {a: 1}", []string{"spec.path: Required value"}},
		{"a rule", `{type: object, properties: {spec: {type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: self.a > 1, message: a is small}]}}}`,
			"spec: {a: 1}", []string{"spec: Invalid value: a is small"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := yaml.YAMLToJSON([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			schema, err := NewSchema(text)
			if err != nil {
				t.Fatal(err)
			}
			object, err := dialect.Object([]byte(test.object), false)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range schema.Check(t.Context(), object) {
				got = append(got, strings.TrimPrefix(one.String(), ": "))
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestSchemaThatCannotBeRead(t *testing.T) {
	for _, text := range []string{`{"type": 5}`, `{"properties": []}`, `"..."`} {
		if _, err := NewSchema([]byte(text)); err == nil {
			t.Errorf("%s is a schema", text)
		}
	}
}
