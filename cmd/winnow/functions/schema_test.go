// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// The schema of a function is that of its configs: what breaks it has the file and the line of the field.
func TestConfigsAreComparedWithTheSchema(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	catalog := func(schema string) string {
		return "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n  - group: e.com\n    kind: A\n    versions:\n" +
			"    - name: v1\n      schema:\n        openAPIV3Schema: " + schema + "\n    runtime: {container: {image: 'a:v1', sha256: " + digest + "}}\n"
	}
	const spec = "{type: object, properties: {spec: {type: object, required: [path], properties: {path: {type: string}}}}}"
	text := func(more string) string { return "# a\n---\n" + configText("a") + more }
	resolved := imageRuntime("a:v1@sha256:"+digest, digest)
	for _, test := range []struct {
		name, schema, config string
		want                 []string
	}{
		{"a config that is right", spec, text("spec: {path: /var}\n"), nil},
		{"one without a schema", "", text("spec: {pth: 1}\n"), nil},
		{"a wrong type and an unknown field", spec, text("spec:\n  path: 5\n  pth: /var\n"), []string{
			`a.yaml:8: A of e.com/v1 breaks the schema of its function (c/c.yaml:10): spec.path: Invalid value: "integer": spec.path in body must be of type string: "integer"`,
			"a.yaml:9: A of e.com/v1 breaks the schema of its function (c/c.yaml:10): spec.pth: unknown field: the schema does not have it; did you mean path?",
		}},
		{"a missing field, in the line of what lacks it", spec, text("spec: {}\n"), []string{
			"a.yaml:7: A of e.com/v1 breaks the schema of its function (c/c.yaml:10): spec.path: Required value",
		}},
		{"one that is resolved already", spec, "\n" + configText("a") + "  annotations:\n" + resolved + "spec:\n  path: 5\n", []string{
			`a.yaml:12: A of e.com/v1 breaks the schema of its function (c/c.yaml:10): spec.path: Invalid value: "integer": spec.path in body must be of type string: "integer"`,
		}},
		{"a schema that is none", "{type: 5}", text(""), []string{
			"a.yaml:3: A of e.com/v1 cannot be compared with the schema of its function (c/c.yaml:10): decoding the schema: json: cannot unmarshal number into Go struct field JSONSchemaProps.type of type string",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got := resolveWith(t, catalog(test.schema), map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": test.config})
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// An interrupt is no fault of a schema.
func TestASchemaDoesNotDependOnTheContext(t *testing.T) {
	var schema yaml.Node
	if err := yaml.Unmarshal([]byte("{type: object}"), &schema); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	r := &resolver{schemas: memo.Memo{}}
	if compiled, err := r.schemaOf(canceled, &krmfunctions.Version{Schema: schema.Content[0]}); err != nil || compiled == nil {
		t.Errorf("got %v and %v", compiled, err)
	}
}
