// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"errors"
	"slices"
	"testing"
)

// The wanted values are what kustomize v5.8.3 builds, which Flux applies.
func TestASelectionIsReadAsKustomizeReadsIt(t *testing.T) {
	const begin = head + "metadata: {name: a}\nspec:\n  sources: [{name: catalog}]\n  values:\n  - names: [app]\n"
	for name, test := range map[string]struct{ overrides, want string }{
		"booleans of YAML 1.1 are texts":   {"{a: no, b: on, c: Y, no: x, n: y}", `{"a":"no","b":"on","c":"Y","n":"y","no":"x"}`},
		"a date is a time":                 {"{a: 2021-01-01, b: '2021-01-01'}", `{"a":"2021-01-01T00:00:00Z","b":"2021-01-01"}`},
		"numbers":                          {"{a: 017, b: 0o17, c: 1_000, d: 1e3, e: 9007199254740993}", `{"a":15,"b":15,"c":1000,"d":1000,"e":9007199254740993}`},
		"a key wins over a merge key":      {"{a: &a {k: 1, m: 1}, b: {<<: *a, k: 2}, c: {k: 3, <<: *a}}", `{"a":{"k":1,"m":1},"b":{"k":2,"m":1},"c":{"k":3,"m":1}}`},
		"the first of several merges wins": {"{b: {<<: [{k: 1}, {k: 2, m: 2}]}}", `{"b":{"k":1,"m":2}}`},
	} {
		found, err := Parse(t.Context(), "f.yaml", []byte(begin+"    overrides: "+test.overrides+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(found[0].Spec.Values[0].Overrides.Raw); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, test := range map[string]struct {
		overrides string
		want      []string
	}{
		"keys that are no texts": {"{1: a, true: b, 2021-01-01: c}", []string{
			`f.yaml:10: reading YAML: the document has the key "1", which is a number: put it in quotes`,
			`f.yaml:10: reading YAML: the document has the key "true", which is a boolean: put it in quotes`,
			`f.yaml:10: reading YAML: the document has the key "2021-01-01", which is a timestamp: put it in quotes`,
		}},
		"a key that is null":     {"{~: a}", []string{"f.yaml:10: reading YAML: the document has a key that is not a string"}},
		"a merge key in quotes":  {"{'<<': {a: 1}}", []string{`f.yaml:10: reading YAML: the document has the key "<<" in quotes, which kustomize drops`}},
		"a merge within a merge": {"{a: &a {x: 1}, b: &b {<<: *a}, c: {<<: *b}}", []string{"f.yaml:10: reading YAML: the document merges what has a merge key << itself, which kustomize gets wrong"}},
		"two merge keys":         {"{<<: {a: 1}, <<: {b: 1}}", []string{`f.yaml:10: reading YAML: the document has the key "<<" twice, first in line 10`}},
		"a null in braces that is not written": {"{a: {x, y: }}", []string{
			`f.yaml:10: reading YAML: the document has the key "x" without a value in braces, which kustomize reads as an empty text: write null or ""`,
			`f.yaml:10: reading YAML: the document has the key "y" without a value in braces, which kustomize reads as an empty text: write null or ""`,
		}},
		"a number without an end": {"{a: .inf}", []string{"f.yaml:1: reading YAML: json: unsupported value: +Inf"}},
	} {
		_, err := Parse(t.Context(), "f.yaml", []byte("# a\n---\n"+begin+"    overrides: "+test.overrides+"\n"))
		invalid, ok := errors.AsType[*InvalidError](err)
		if !ok || !slices.Equal(invalid.Lines(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
