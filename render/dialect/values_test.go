// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

func TestValuesAreReadAsTheirReadersDo(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a merge key behind a key wins":         {"a: &a {k: 1, m: 1}\nb:\n  k: 2\n  <<: *a\n", `{"a":{"k":1,"m":1},"b":{"k":1,"m":1}}`},
		"a merge key before a key loses":        {"a: &a {k: 1, m: 1}\nb:\n  <<: *a\n  k: 2\n", `{"a":{"k":1,"m":1},"b":{"k":2,"m":1}}`},
		"the first of several sources wins":     {"b:\n  k: 2\n  <<: [{k: 3}, {k: 4, m: 4}]\n", `{"b":{"k":3,"m":4}}`},
		"a merge key within what is merged":     {"a: &a {k: 1}\nb: &b {k: 2, <<: *a}\nc: {k: 3, <<: *b}\n", `{"a":{"k":1},"b":{"k":1},"c":{"k":1}}`},
		"the first document":                    {"a: 1\n---\na: 2\n", `{"a":1}`},
		"what comes behind an end is left":      {"a: 1\n...\nb: 2\n", `{"a":1}`},
		"an empty document before another one":  {"---\n---\na: 2\n", `null`},
		"a marker before the only one":          {"# a\n---\na: 2\n", `{"a":2}`},
		"a boolean as a key behind a merge key": {"<<: {yes: 1}\nyes: 2\n", `{"true":2}`},
		"a merge key behind a boolean":          {"yes: 2\n<<: {yes: 1}\n", `{"true":1}`},
	} {
		root, err := dialect.Values([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		read, err := yaml.YAMLToJSON([]byte(test.text))
		if err != nil || string(read) != test.want {
			t.Errorf("%s: the reader reads %s: %v", name, read, err)
		}
		if root == nil {
			if test.want != "null" {
				t.Errorf("%s: no document", name)
			}
			continue
		}
		text, err := yamlnode.Encode(yamlnode.Expand(root))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := yaml.YAMLToJSON(text); err != nil || string(got) != test.want {
			t.Errorf("%s: %s: %v", name, got, err)
		}
	}
}

func TestKeysThatAreThereTwiceAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: 2\na: 3\n":       `line 3: it has the key "a" twice, first in line 1`,
		"yes: 1\n\"true\": 2\n":    `line 2: it has the key "true" twice, first in line 1 as "yes"`,
		"010: 1\n8: 2\n":           `line 2: it has the key "8" twice, first in line 1 as "010"`,
		"8: 1\n<<: {\"8\": 2}\n":   `line 2: it has the key "8" twice, first in line 1`,
		"<<: {a: 1}\n<<: {b: 1}\n": `line 2: it has the key "<<" twice, first in line 1`,
	} {
		if _, err := dialect.Values([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDifferencesOfReaders(t *testing.T) {
	for text, want := range map[string][]string{
		"a: no\nyes: 1\nb: 'no'\nc: !!str no\n": {
			`1: "no" is a text for kustomize, and a boolean for kubectl and Helm: write true or false, or put it in quotes`,
			`2: "yes" is a text for kustomize, and a boolean for kubectl and Helm: write true or false, or put it in quotes`,
		},
		"a: 2021-01-01\nb: 2021-01-01T00:00:00Z\nc: '2021-01-01'\n": {
			`1: "2021-01-01" is a time for kustomize, and a text for kubectl and Helm: put it in quotes`,
		},
		"a: &a {k: 1}\nb:\n  k: 2\n  l: 3\n  <<: *a\nc: {<<: *a, k: 2}\n": {
			`3: the key "k" stands before the merge key <<: kustomize keeps it, kubectl and Helm take what is merged: write << first`,
		},
		"a: 017\nb: 0o17\nc: 1_000\nd: 9007199254740993\ne: 1e3\nf: ~\n": nil,
	} {
		root, err := yamlnode.Head([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		dialect.Differences(root, func(line int, format string, args ...any) {
			got = append(got, fmt.Sprintf("%d: "+format, append([]any{line}, args...)...))
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
