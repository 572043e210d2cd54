// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// widgets is a definition that uses the features of schemas.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Cluster
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - rule: self.size <= self.limit
              message: size must not exceed limit
            - rule: '!has(self.mode) || self.mode == oldSelf.mode'
              message: mode is immutable
            properties:
              size: {type: integer, minimum: 1}
              limit: {type: integer, default: 10}
              mode: {type: string, enum: [Fast, Slow]}
              name: {type: string, pattern: '^[a-z]+$', maxLength: 100}
              note: {type: string, nullable: true}
              port: {x-kubernetes-int-or-string: true}
              raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    number: {type: integer}
              tags:
                type: array
                x-kubernetes-list-type: set
                items: {type: string}
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
          status:
            type: object
            required: [phase]
            properties:
              phase: {type: string}
  - name: v1alpha1
    served: false
    storage: false
    schema:
      openAPIV3Schema: {type: object}
`

const head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n"

func load(t *testing.T, files map[string]string) (*Set, error) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	set := &Set{}
	return set, set.Load(t.Context(), "crds", fsys)
}

func TestCheck(t *testing.T) {
	set, err := load(t, map[string]string{"widgets.yaml": widgets})
	if err != nil {
		t.Fatal(err)
	}
	const notYet = "Widget/a: Invalid value: the rules of x-kubernetes-validations are not checked before the other errors are corrected"
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"an object that is right", head + "spec: {size: 3, mode: Fast, name: abc, tags: [a, b]}", nil},
		{"a missing object", head, []string{notYet, `Widget/a: spec: Required value`}},
		{"a missing field", head + "spec: {}", []string{notYet, "Widget/a: spec.size: Required value"}},
		{"a wrong type", head + `spec: {size: "3"}`, []string{
			notYet, `Widget/a: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
		}},
		{"a number that is too small", head + "spec: {size: 0}", []string{
			"Widget/a: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
		}},
		{"a value that the enum lacks", head + "spec: {size: 3, mode: Medium}", []string{
			notYet, `Widget/a: spec.mode: Unsupported value: "Medium": supported values: "Fast", "Slow"`,
		}},
		{"a text that the pattern refuses", head + "spec: {size: 3, name: ABC}", []string{
			`Widget/a: spec.name: Invalid value: "ABC": spec.name in body should match '^[a-z]+$'`,
		}},
		{"a long text is not repeated", head + "spec: {size: 3, name: " + strings.Repeat("A", 90) + "}", []string{
			`Widget/a: spec.name: Invalid value: spec.name in body should match '^[a-z]+$'`,
		}},
		{"a rule, with a default", head + "spec: {size: 11}", []string{
			"Widget/a: spec: Invalid value: size must not exceed limit",
		}},
		{"a rule that the default's replacement satisfies", head + "spec: {size: 11, limit: 11}", nil},
		{"unknown fields, each", head + "spec: {size: 3, b: 1, a: {c: 1}}\nextra: 1", []string{
			"Widget/a: extra: unknown field: the CustomResourceDefinition does not have it",
			"Widget/a: spec.a: unknown field: the CustomResourceDefinition does not have it",
			"Widget/a: spec.b: unknown field: the CustomResourceDefinition does not have it",
		}},
		{"a field that only a newer helm-controller has", head + "spec: {size: 3, upgrade: 1, chartNameChangeStrategy: a}", []string{
			"Widget/a: spec.chartNameChangeStrategy: unknown field: the CustomResourceDefinition does not have it; instances of the backend Helm need Flux 2.9 (helm-controller 1.6) or newer",
			"Widget/a: spec.upgrade: unknown field: the CustomResourceDefinition does not have it",
		}},
		{"an unknown field of the metadata", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, label: x}\nspec: {size: 3}", []string{
			"Widget/a: metadata.label: unknown field: the CustomResourceDefinition does not have it",
		}},
		{"unknown fields that are meant to be others", head + "spec: {size: 3, nme: a, ports: [{name: a, nubmer: 1}]}\nspecs: {}", []string{
			"Widget/a: spec.nme: unknown field: the CustomResourceDefinition does not have it; did you mean name?",
			"Widget/a: spec.ports[0].nubmer: unknown field: the CustomResourceDefinition does not have it; did you mean number?",
			"Widget/a: specs: unknown field: the CustomResourceDefinition does not have it; did you mean spec?",
		}},
		{"unknown fields that are preserved", head + "spec: {size: 3, raw: {b: {c: 1}}}", nil},
		{"a number or a text", head + "spec: {size: 3, port: http}\n---\n" + head + "spec: {size: 3, port: 80}", nil},
		{"neither a number nor a text", head + "spec: {size: 3, port: true}", []string{
			notYet, `Widget/a: spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`,
		}},
		{"a key of a list twice", head + "spec: {size: 3, ports: [{name: x, number: 1}, {name: x, number: 2}]}", []string{
			"Widget/a: spec.ports[1]: Duplicate value",
		}},
		{"an item of a set twice", head + "spec: {size: 3, tags: [x, x]}", []string{
			`Widget/a: spec.tags[1]: Duplicate value: "x"`,
		}},
		{"null where it is allowed, or there is a default", head + "spec: {size: 3, note: null, limit: null}", nil},
		{"null where it is no value", head + "spec: {size: 3, mode: null}", []string{
			notYet, `Widget/a: spec.mode: Invalid value: "null": spec.mode in body must be of type string: "null"`,
			`Widget/a: spec.mode: Unsupported value`,
		}},
		{"an embedded object without its kind", head + "spec: {size: 3, template: {metadata: {name: A_}}}", []string{
			notYet,
			"Widget/a: spec.template.apiVersion: Required value",
			"Widget/a: spec.template.kind: Required value",
		}},
		{"a status is not applied", head + "spec: {size: 3}\nstatus: {}", nil},
		{"a name that is none", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: A_b}\nspec: {size: 3}", []string{
			`Widget/A_b: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain`,
		}},
		{"metadata that cannot be decoded", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, labels: {x: 1}}\nspec: {size: 3}", []string{
			"Widget/a: metadata: ",
		}},
		{"a version that is not served", "apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata: {name: a}", []string{
			"Widget/a: apiVersion: crds/widgets.yaml does not serve version v1alpha1, but v1",
		}},
		{"several objects, sorted", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {size: 0}\n---\n" + head + "spec: {size: 0}", []string{
			"Widget/a: spec.size: Invalid value: 0", "Widget/b: spec.size: Invalid value: 0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := set.Check(t.Context(), []byte(c.stream))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range result.Findings {
				got = append(got, f.String())
			}
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// A key may begin as the separator of a message does.
func TestAFindingNamesTheWholeField(t *testing.T) {
	for want, f := range map[string]Finding{"A/a: : x: unknown": {"A/a", ": x", "unknown"}, "A/a: unknown": {"A/a", "", "unknown"}} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
