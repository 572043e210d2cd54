// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

func TestLoadReadsFactsOnVersions(t *testing.T) {
	loaded, err := catalog.Load(context.Background(), with(files{"applications/good/metadata.yaml": `
versions:
  "2.13.0":
    deprecated: use 3.0.0
    channels: &channels [stable, fast]
    requires: {kubernetes: ">=1.31", kkp: ">=2.28 <3", openshift: ~4.14}
    released: 2026-01-02
  3.0.0: {channels: *channels}
  "1.10": {deprecated: ""}
`}).fs())
	if err != nil {
		t.Fatal(err)
	}
	read := loaded.Applications[0].Metadata
	want := metadata.Versions{
		{Name: "1.10"},
		{
			Name: "2.13.0", Channels: []string{"stable", "fast"}, Deprecated: "use 3.0.0",
			Requires: []metadata.Requirement{
				{Component: "kkp", Constraint: ">=2.28 <3"}, {Component: "kubernetes", Constraint: ">=1.31"}, {Component: "openshift", Constraint: "~4.14"},
			},
		},
		{Name: "3.0.0", Channels: []string{"stable", "fast"}},
	}
	if !reflect.DeepEqual(read.Versions, want) {
		t.Errorf("facts = %#v", read.Versions)
	}
	extra := map[string]any{"versions": map[string]any{
		"2.13.0": map[string]any{
			"deprecated": "use 3.0.0", "channels": []any{"stable", "fast"}, "released": "2026-01-02",
			"requires": map[string]any{"kubernetes": ">=1.31", "kkp": ">=2.28 <3", "openshift": "~4.14"},
		},
		"3.0.0": map[string]any{"channels": []any{"stable", "fast"}},
		"1.10":  map[string]any{"deprecated": ""},
	}}
	if !reflect.DeepEqual(read.Extra, extra) {
		t.Errorf("expressions read %#v", read.Extra)
	}
}

func TestLoadChecksFactsOnVersions(t *testing.T) {
	const path = "applications/good/metadata.yaml"
	var channels, requires, versions strings.Builder
	for i := range 33 {
		fmt.Fprintf(&channels, "c%d, ", i)
		fmt.Fprintf(&requires, "r%d: '1', ", i)
	}
	for i := range 1001 {
		fmt.Fprintf(&versions, "1.0.%d: {}, ", i)
	}
	for _, test := range []struct {
		name, document string
		want           []string
	}{
		{"nothing", "versions: {}", nil},
		{"an entry without facts", "versions: {1.0.0: {}}", nil},
		{"a version that the application lacks", "versions: {9.9.9: {deprecated: gone}}", nil},
		{"a list is refused", "versions: [1.0.0]", []string{path + ":1: versions must be a mapping, not a list"}},
		{"a text is refused", "versions: all", []string{path + ":1: versions must be a mapping, not a string"}},
		{"versions that are numbers are refused", "versions:\n  1.10: {}\n  2: {}\n", []string{
			path + `:2: versions: the version "1.10" must be a string: put it in quotes`,
			path + `:3: versions: the version "2" must be a string: put it in quotes`,
		}},
		{"merge keys are refused", "a: &a {1.10: {}}\nversions:\n  <<: *a\n", []string{path + ":3: versions must not have merge keys: write out the versions"}},
		{"all violations are reported", "versions:\n  1.0.0: stable\n  2.0.0:\n    deprecated: true\n    channels: stable\n    requires: [kubernetes]\n", []string{
			path + `:2: versions["1.0.0"] must be a mapping, not a string`,
			path + `:4: versions["2.0.0"].deprecated must be a message that says what to use instead, not a boolean; leave it out when the version is not deprecated`,
			path + `:5: versions["2.0.0"].channels must be a list, not a string`,
			path + `:6: versions["2.0.0"].requires must be a mapping, not a list`,
		}},
		{"channels are checked", "versions:\n  1.0.0:\n    channels:\n    - 1\n    - ''\n    - a\n    - a\n    - " + strings.Repeat("x", 64) + "\n", []string{
			path + `:4: versions["1.0.0"].channels must have strings, not a number`,
			path + `:5: versions["1.0.0"].channels has an empty string`,
			path + `:7: versions["1.0.0"].channels has "a" twice`,
			path + `:8: versions["1.0.0"].channels: "` + strings.Repeat("x", 64) + `" is longer than 63 characters, which no selection can name`,
		}},
		{"requirements are checked", "versions:\n  1.0.0:\n    requires:\n      a: 1.31\n      b: newest\n      c: ''\n      d: {}\n      E f: '1'\n      g: '" + strings.Repeat(">1 ", 86) + "'\n", []string{
			path + `:4: versions["1.0.0"].requires["a"] must be a string: put "1.31" in quotes`,
			path + `:5: versions["1.0.0"].requires["b"] must be a range of versions, such as >=1.31, not "newest"`,
			path + `:6: versions["1.0.0"].requires["c"] must be a range of versions, such as >=1.31, not ""`,
			path + `:7: versions["1.0.0"].requires["d"] must be a string, not a mapping`,
			path + `:8: versions["1.0.0"].requires: the component "E f" is not valid: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
			path + `:9: versions["1.0.0"].requires["g"] has 258 bytes, more than 256`,
		}},
		{"lists are bounded", "versions:\n  1.0.0:\n    channels: [" + channels.String() + "]\n    requires: {" + requires.String() + "}\n", []string{
			path + `:3: versions["1.0.0"].channels has 33 entries, more than 32`,
			path + `:4: versions["1.0.0"].requires has 33 entries, more than 16`,
		}},
		{"versions are bounded", "versions: {" + versions.String() + "}", []string{path + ":1: versions has 1001 entries, more than 1000"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, with(files{path: test.document}).fs()), test.want)
		})
	}
}
