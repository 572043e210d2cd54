// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

func TestValuesAreCheckedAgainstTheSchema(t *testing.T) {
	const properties = `{"type": "object", "required": ["size", "replicas"], "properties": {
	  "size": {"type": "string", "pattern": "^[0-9]+Gi$"}, "replicas": {"type": "integer", "default": 1, "minimum": 1},
	  "mode": {"enum": ["a", "b"]}, "cpu": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true},
	  "free": {"type": "object"}, "any": {"type": "object", "properties": {"a": {}}, "x-kubernetes-preserve-unknown-fields": true},
	  "users": {"type": "object", "additionalProperties": {"type": "object", "properties": {"admin": {"type": "boolean"}}}},
	  "nodes": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}}`
	for _, test := range []struct {
		name, schema, values string
		want                 []problem
	}{
		{"values that fit", properties, "{size: 1Gi, mode: a, cpu: 2, free: {x: 1}, any: {x: 1}, users: {joe: {admin: true}}, nodes: [{name: a}]}", nil},
		{"a text for cpu", properties, "{size: 1Gi, cpu: 500m}", nil},
		{"null is like nothing", properties, "{size: 1Gi, replicas: null, users: {joe: {admin: null}}}", nil},
		{"a missing value", properties, "{}", []problem{{"", "values.size"}}},
		{"a value deleted that must be there", properties, "{size: null}", []problem{{"", "values.size"}}},
		{"a typo", properties, "{size: 1Gi, replica: 3}", []problem{{"values.replica", "not in spec.application.openAPISchema"}}},
		{"typos below", properties, "{size: 1Gi, users: {joe: {admim: true}}, nodes: [{name: a, nam: b}]}", []problem{{"values.nodes[0].nam", ""}, {"values.users.joe.admim", ""}}},
		{"the wrong types", properties, "{size: 1, replicas: many, cpu: true}", []problem{{"", "values.cpu"}, {"", "values.cpu"}, {"", "values.replicas"}, {"", "values.size"}}},
		{"out of bounds", properties, "{size: big, replicas: 0, mode: c, nodes: [{}]}", []problem{{"values.size", `"big" does not match`}, {"", "values.mode"}, {"", "values.nodes[0].name"}, {"", "values.replicas"}}},
		{"a schema without members takes all", `{"type": "object", "properties": {}}`, "{a: 1}", nil},
		{"a schema that is none", `{`, "{}", []problem{{"spec.application.openAPISchema", "no JSON schema"}}},
		{"a schema that is a text", `"object"`, "{}", []problem{{"spec.application.openAPISchema", "no JSON schema"}}},
		{"references", `{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`, "{a: 1}", []problem{{"spec.application.openAPISchema", "cannot be used"}}},
		{"a pattern that is none", `{"properties": {"a": {"type": "string", "pattern": "("}}}`, "{a: x}", nil},
		{"one of two by pattern", `{"properties": {"a": {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}]}}}`, "{a: b}", nil},
		{"not a pattern", `{"properties": {"a": {"not": {"pattern": "^b"}}}}`, "{a: a}", nil},
		{"a schema that is too large", `{"properties": {"a": {"type": "array", "items": {"enum": [1` + strings.Repeat(", 1", 20_000) + `]}}}}`,
			"{a: [1" + strings.Repeat(", 1", 1_000) + "]}", []problem{{"spec.application.openAPISchema", "too large"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := "\n  application: {kind: Web, singular: web, plural: webs, openAPISchema: " + yamlQuoted(test.schema) + "}\n" +
				"  release: {chartRef: {kind: HelmChart, name: a}, prefix: web-}\n"
			for _, b := range []string{backend.Helm, backend.CozystackApplication} {
				_, err := backends.Named(b).Build(instanceOf(t, "cozystack.io/v1alpha1", "", func(i *backend.Instance) {
					i.Values = parse(t, test.values)
				}, spec))
				if err != nil || test.want != nil {
					checkProblems(t, err, test.want...)
				}
			}
		})
	}
}

// What a Secret may hold is not missing.
func TestValuesOfASecretAreNotMissing(t *testing.T) {
	spec := "\n  application: {kind: Web, singular: web, plural: webs, openAPISchema: '" +
		`{"type": "object", "required": ["size"], "properties": {"size": {"type": "string"}, "a": {"type": "object", "required": ["b"]}}}` + "'}\n" +
		"  release: {chartRef: {kind: HelmChart, name: a}, prefix: web-}\n"
	build(t, backend.Helm, instanceOf(t, "cozystack.io/v1alpha1", "", func(i *backend.Instance) {
		i.Values = map[string]any{"a": map[string]any{}}
		i.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "size"}}
	}, spec))
}

func TestCostOfHostileSchemas(t *testing.T) {
	deep := strings.Repeat(`{"not": `, 5_000) + "{}" + strings.Repeat("}", 5_000)
	wide := `{"properties": {"a": {"anyOf": [{}` + strings.Repeat(`, {"type": "string"}`, 10_000) + `]}}}`
	for name, schema := range map[string]string{"deep": deep, "wide": wide} {
		spec := fmt.Sprintf("\n  application: {kind: Web, singular: web, plural: webs, openAPISchema: %s}\n  release: {chartRef: {kind: HelmChart, name: a}, prefix: web-}\n", yamlQuoted(schema))
		_, err := backends.Named(backend.Helm).Build(instanceOf(t, "cozystack.io/v1alpha1", "", func(i *backend.Instance) {
			i.Values = map[string]any{"a": int64(1)}
		}, spec))
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: %d bytes of %.200s", name, len(err.Error()), err)
		}
	}
}
