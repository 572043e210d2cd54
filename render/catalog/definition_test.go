// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"fmt"
	"strings"
	"testing"
)

func numbers(n int) []string {
	versions := make([]string, n)
	for i := range versions {
		versions[i] = fmt.Sprintf("%d.0.0", i)
	}
	return versions
}

func TestLoadChecksDefinitions(t *testing.T) {
	const path = "applications/x/application.yaml"
	good := definition("x", "1.0.0")
	replaced := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, test := range []struct {
		name, document string
		want           []string
	}{
		{"JSON is YAML", `{"apiVersion": "a.b/v1", "kind": "ApplicationDefinition",` + "\n\t" + `"metadata": {"name": "x"}, "spec": {"url": "https://x"}}`, nil},
		{"empty documents around the object are fine", "---\n# a\n---\n" + good + "---\n# nothing\n---\n", nil},
		{"an end marker is fine", good + "...\n", nil},
		{"merge keys and aliases are fine", "x: &x {apiVersion: a.b/v1, kind: wrong}\n<<: [*x, {metadata: {name: &n x}}]\nkind: ApplicationDefinition\nspec: {versions: [{<<: {version: *n}}, &v {version: y}]}\n", nil},
		{"an empty file has no document", "", []string{path + ": is empty: expected one YAML document"}},
		{"comments only are no document", "# a\n---\n", []string{path + ": is empty: expected one YAML document"}},
		{"a second document is refused", good + "---\n# b\na: 1\n", []string{path + ":11: must hold exactly one YAML document, but a second one starts here"}},
		{"a written null counts as a document", good + "--- null\n", []string{path + ":9: must hold exactly one YAML document, but a second one starts here"}},
		{"broken YAML has its line", "a: 1\nb: [\nc: {]\n", []string{path + ":3: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes"}},
		{"broken YAML has its line at the top", "{a: b: c}\n", []string{path + ":1: is not valid YAML: did not find expected ',' or '}': a [ or { is not closed"}},
		{"broken indentation has its line", "a:\n  b: 1\n c: 2\n", []string{path + ":3: is not valid YAML: did not find expected key: the indentation differs from the lines above, or a quote ends too early"}},
		{"an unknown anchor is named", "a: *b\n", []string{path + ": is not valid YAML: unknown anchor 'b' referenced: put a text that begins with * in quotes"}},
		{"broken YAML after the object is found", good + "---\n\tx\n", []string{path + ":10: is not valid YAML: found character that cannot start any token: the line has a tab: indent it with spaces"}},
		{"Latin-1 has its line", "a: 1\nb: caf\xe9\n", []string{path + ":2: must be UTF-8"}},
		{"UTF-16 is refused", "\xff\xfea\x00:\x00", []string{path + ":1: must be UTF-8"}},
		{"NUL bytes are refused", "a\x00", []string{path + ": is not valid YAML: control characters are not allowed"}},
		{"a scalar is no object", "hello\n", []string{path + ":1: must be a mapping, not a string"}},
		{"a list is no object", "\n- a\n", []string{path + ":2: must be a mapping, not a list"}},
		{"a List of objects is refused and nothing else said", "apiVersion: v1\nkind: List\nitems: []\n", []string{path + `:2: kind must be ApplicationDefinition, not "List": a file holds one object`}},
		{"a typed list is refused the same", "kind: ApplicationDefinitionList\n", []string{path + `:1: kind must be ApplicationDefinition, not "ApplicationDefinitionList": a file holds one object`}},
		{"items make a list of any kind", good + "items: []\n", []string{path + ":9: has the field items, by which Flux takes it for a list, and applies what is in it instead"}},
		{"items that are merged in do so too", good + "<<: {items: [{kind: ConfigMap}]}\n", []string{path + ":9: has the field items, by which Flux takes it for a list, and applies what is in it instead"}},
		{"the case of kind matters", replaced("ApplicationDefinition", "Applicationdefinition"), []string{path + `:2: kind must be ApplicationDefinition, not "Applicationdefinition"`}},
		{"kind must be a string", replaced("ApplicationDefinition", "1"), []string{path + ":2: kind must be a string, not a number"}},
		{"kind must not be empty", replaced("ApplicationDefinition", `""`), []string{path + ":2: kind must not be empty"}},
		{"a group is required", replaced("apps.kubermatic.k8c.io/v1", "v1"), []string{path + `:1: apiVersion must be <group>/<version>, not "v1"`}},
		{"an empty group is none", replaced("apps.kubermatic.k8c.io/v1", "/v1"), []string{path + `:1: apiVersion must be <group>/<version>, not "/v1"`}},
		{"a version is required", replaced("apps.kubermatic.k8c.io/v1", "apps/"), []string{path + `:1: apiVersion must be <group>/<version>, not "apps/"`}},
		{"an apiVersion has one slash", replaced("apps.kubermatic.k8c.io/v1", "a/b/c"), []string{path + `:1: apiVersion must be <group>/<version>, not "a/b/c"`}},
		{"a name is required", replaced("  name: x", "  labels: {}"), []string{path + ":4: metadata.name is missing"}},
		{"a number is no name", replaced("name: x", "name: 12"), []string{path + ":4: metadata.name must be a string, not a number"}},
		{"metadata is required", replaced("metadata:\n  name: x\n", ""), []string{path + ":1: metadata is missing"}},
		{"metadata is a mapping", replaced("\n  name: x", " x"), []string{path + ":3: metadata must be a mapping, not a string"}},
		{"a generated name is refused", replaced("name: x", "generateName: x-"), []string{path + ":4: metadata.generateName is not allowed: the name must be known", path + ":4: metadata.name is missing"}},
		{"a climbing name is refused", replaced("name: x", "name: ../x"), []string{path + `:4: metadata.name "../x" is not valid: ` + subdomain}},
		{"an upper case name is refused", replaced("name: x", "name: X"), []string{path + `:4: metadata.name "X" is not valid: ` + subdomain}},
		{"a long name is refused and cut", replaced("name: x", "name: "+strings.Repeat("x", 300)), []string{path + `:4: metadata.name "` + strings.Repeat("x", 80) + `..." is not valid: must be no more than 253 characters`}},
		{"a name of 250 bytes is a file name with .yaml", replaced("name: x", "name: "+strings.Repeat("x", 250)), nil},
		{
			"a name that no file can have is refused", replaced("name: x", "name: "+strings.Repeat("x", 251)),
			[]string{path + `:4: metadata.name "` + strings.Repeat("x", 80) + `..." has 251 bytes, which no file of the artifact can have with .yaml behind it: shorten it to 250`},
		},
		{"an application has 1,000 versions", definition("x", numbers(1000)...), nil},
		{
			"an application has no more", definition("x") + "  versions:\n" + strings.Repeat("    - version: a\n", 40_000),
			[]string{path + ":1008: spec.versions has 40000 entries, more than 1000: split the application, or drop old versions"},
		},
		{
			"a version has at most 253 bytes", definition("x", strings.Repeat("1", 253)+"a", strings.Repeat("2", 252)+"a"),
			[]string{path + `:8: spec.versions[0].version "` + strings.Repeat("1", 80) + `..." has 254 bytes, more than 253`},
		},
		{"spec is required", replaced("spec:\n  method: helm\n  versions:\n    - version: 1.0.0\n", ""), []string{path + ":1: spec is missing"}},
		{"an empty spec is none", replaced("spec:\n  method: helm\n  versions:\n    - version: 1.0.0\n", "spec:\n"), []string{path + ":5: spec must be a mapping, not null"}},
		{"versions must be a list", definition("x") + "  versions: {a: 1}\n", []string{path + ":7: spec.versions must be a list, not a mapping"}},
		{
			"every entry of versions is checked",
			definition("x") + "  versions:\n  - 1.0.0\n  - template: {}\n  - version: 1.13\n  - version: ''\n  - version: a\n  - version: true\n  - {name: b, version: a}\n",
			[]string{
				path + ":8: spec.versions[0] must be a mapping, not a string",
				path + ":9: spec.versions[1].version is missing",
				path + `:10: spec.versions[2].version must be a string: put "1.13" in quotes`,
				path + ":11: spec.versions[3].version must be a string that is not empty",
				path + ":13: spec.versions[5].version must be a string that is not empty",
				path + `:14: spec.versions has "a" twice, first in line 12`,
			},
		},
		{
			"keys are unique everywhere, as JSON has them",
			replaced("method: helm", "method: helm\n  deep: [{a: 1, a: 2}]\n  ports: {80: x, '80': y}\n  method: helm"),
			[]string{
				path + `:7: has the key "a" twice, first in line 7`,
				path + `:8: has the key "80" twice, first in line 8`,
				path + `:8: has the key "80", which is a number: put it in quotes`,
				path + `:9: has the key "method" twice, first in line 6`,
			},
		},
		{
			"keys are strings",
			replaced("method: helm", "method: helm\n  ~: a\n  [b]: c\n  .nan: d\n  !x e: f"),
			[]string{
				path + ":7: has a key that is not a string",
				path + ":8: has a key that is not a string",
				path + ":9: has a key that is not a string",
				path + ":10: has a key that is not a string",
			},
		},
		{
			"merges need mappings",
			replaced("method: helm", "a: {<<: x}\n  b: {<<: [{}, y]}"),
			[]string{
				path + ":6: has a merge key << with something that is not a mapping or a list of mappings",
				path + ":7: has a merge key << with something that is not a mapping or a list of mappings",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, files{path: test.document}.fs()), test.want)
		})
	}
}

const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
	"and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
	`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
