// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

const (
	labelName  = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	labelValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

func TestLoadChecksMetadata(t *testing.T) {
	const path = "applications/good/metadata.yaml"
	for _, test := range []struct {
		name, document string
		want           []string
	}{
		{"an empty mapping is fine", "{}", nil},
		{"an empty file is an accident", "# tier: gold\n", []string{path + ": is empty: expected one YAML document"}},
		{"a list is refused", "- tier: gold\n", []string{path + ":1: must be a mapping, not a list"}},
		{"two documents are refused", "tier: gold\n---\ntier: silver\n", []string{path + ":3: must hold exactly one YAML document, but a second one starts here"}},
		{"broken YAML has its line", "tier: gold\nlabels: }\n", []string{path + ":2: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes"}},
		{"a key twice is refused", "tier: gold\ntier: silver\n", []string{path + `:2: has the key "tier" twice, first in line 1`}},
		{
			"types are checked, each with its line",
			"tier: 1\nlabels: [a]\nannotations:\ndeprecated:\n  since: 1\n",
			[]string{
				path + ":1: tier must be a string, not a number",
				path + ":2: labels must be a mapping, not a list",
				path + ":3: annotations must be a mapping, not null",
				path + ":5: deprecated must be a string, not a mapping",
			},
		},
		{
			"a boolean deprecated gets advice", "deprecated: false\n",
			[]string{path + ":1: deprecated must be a message that says what to use instead, not a boolean; leave it out when the application is not deprecated"},
		},
		{
			"a text like a boolean gets the same advice", "deprecated: no\nversions: {1.0.0: {deprecated: Off}, 2.0.0: {deprecated: \"Yes\"}, 3.0.0: {deprecated: No longer maintained.}}\n",
			[]string{
				path + ":1: deprecated must be a message that says what to use instead, not a boolean; leave it out when the application is not deprecated",
				path + `:2: versions["1.0.0"].deprecated must be a message that says what to use instead, not a boolean; leave it out when the version is not deprecated`,
				path + `:2: versions["2.0.0"].deprecated must be a message that says what to use instead, not a boolean; leave it out when the version is not deprecated`,
			},
		},
		{
			"any other text like a boolean is refused, unless it has quotes",
			"tier: on\nlabels:\n  Y: 'no'\n  b: off\nversions: {1.0.0: {channels: [No, \"no\"]}}\nrestart:\n- {always: yes}\n",
			[]string{
				path + `:1: "on" is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes`,
				path + `:3: "Y" is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes`,
				path + `:4: "off" is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes`,
				path + `:5: "No" is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes`,
				path + `:7: "yes" is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes`,
			},
		},
		{
			"label and annotation values are strings",
			"labels:\n  a: true\n  b: 2026-01-01\nannotations:\n  c: 1.5\n  d: !x y\n",
			[]string{
				path + `:2: labels: the value of "a" must be a string, not a boolean`,
				path + `:3: labels: the value of "b" must be a string, not a timestamp`,
				path + `:5: annotations: the value of "c" must be a string, not a number`,
				path + `:6: annotations: the value of "d" must be a string, not a value with the tag "!x"`,
			},
		},
		{
			"labels and annotation keys are held to the rules of Kubernetes",
			"labels:\n  a b: x\n  c: x y\nannotations:\n  Example.com/D: any value\n  e f: x\n",
			[]string{
				path + `:2: labels: the key "a b" is not valid: ` + labelName,
				path + `:3: labels: the value "x y" of "c" is not valid: ` + labelValue,
				path + `:6: annotations: the key "e f" is not valid: ` + labelName,
			},
		},
		{
			"unknown keys must be JSON",
			"a: .inf\nb: {c: !secret d}\ne: [!!binary aGk=]\nf: !!int x\n",
			[]string{
				path + `:1: "a": ".inf" is not a finite number`,
				path + `:2: "b": the tag "!secret" has no meaning here`,
				path + `:3: "e": the tag "!!binary" has no meaning here`,
				path + `:4: "f": "x" is not a number`,
			},
		},
		{"a tier of 63 characters can be selected", "tier: " + strings.Repeat("ä", 63), nil},
		{
			"a tier that no tierRefs can name is refused", "tier: " + strings.Repeat("x", 64),
			[]string{path + `:1: tier "` + strings.Repeat("x", 64) + `" is longer than 63 characters, which no tierRefs can name`},
		},
		{"locked values are fine", "lockedValues: [a, b.c, 'd\\.e.f']\nversions: {1.0.0: {lockedValues: [a]}}\n", nil},
		{
			"malformed locked values are refused, each with its line",
			"lockedValues:\n- ''\n- a..b\n- a[0]\n- 'a\\b'\n- a\n- a\n- 1\n- " + strings.Repeat("x", 251) + "\nversions:\n  1.0.0:\n    lockedValues: pod\n",
			[]string{
				path + `:2: lockedValues: "" is not a path of names with dots between them`,
				path + `:3: lockedValues: "a..b" is not a path of names with dots between them`,
				path + `:4: lockedValues: "a[0]" has brackets: a list is locked as a whole, so name the list`,
				path + `:5: lockedValues: "a\\b" has a backslash that is before no dot`,
				path + `:7: lockedValues has "a" twice`,
				path + `:8: lockedValues must have strings, not a number`,
				path + `:9: lockedValues: "` + strings.Repeat("x", 80) + `..." is longer than 250 bytes`,
				path + `:12: versions["1.0.0"].lockedValues must be a list, not a string`,
			},
		},
		{"too many locked values are refused", "lockedValues: [" + strings.Repeat("a, ", 65) + "]\n", []string{path + ":1: lockedValues has 65 entries, more than 64"}},
		{"64 KiB are read", "a: " + strings.Repeat("x", 64<<10-3), nil},
		{"more than 64 KiB are not", "a: " + strings.Repeat("x", 64<<10-2), []string{path + ": is larger than 65536 bytes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, with(files{path: test.document}).fs()), test.want)
		})
	}
}

func TestLoadKeepsUnknownMetadata(t *testing.T) {
	loaded, err := catalog.Load(context.Background(), with(files{"applications/good/metadata.yaml": `
base: &base {a: 1, b: 2, 1: one, true: "yes"}
more: &more {b: 3, c: -0x10}
merged: {<<: [*base, *more], a: 0}
numbers: [9223372036854775807, 18446744073709551615, 1e3, .5]
texts: ["1", 'true', 2026-01-02T03:04:05Z, "<<"]
empty: [{}, [], "", ~]
`}).fs())
	if err != nil {
		t.Fatal(err)
	}
	want := metadata.Metadata{Extra: map[string]any{
		"base":    map[string]any{"a": int64(1), "b": int64(2), "1": "one", "true": "yes"},
		"more":    map[string]any{"b": int64(3), "c": int64(-16)},
		"merged":  map[string]any{"a": int64(0), "b": int64(2), "c": int64(-16), "1": "one", "true": "yes"},
		"numbers": []any{int64(9223372036854775807), float64(18446744073709551615), 1e3, .5},
		"texts":   []any{"1", "true", "2026-01-02T03:04:05Z", "<<"},
		"empty":   []any{map[string]any{}, []any{}, "", nil},
	}}
	if got := loaded.Applications[0].Metadata; !reflect.DeepEqual(got, want) {
		t.Errorf("metadata = %#v", got)
	}
}

func TestLoadChecksLists(t *testing.T) {
	const path = "catalogs/l/metadata.yaml"
	for _, test := range []struct {
		name   string
		others files
		want   []string
	}{
		{
			"entries are names of applications, each once",
			files{path: "applications:\n- good\n- other\n- good\n- 1\n- [good]\n"},
			[]string{
				path + `:3: applications has "other", which no application.yaml defines`,
				path + `:4: applications has "good" twice, first in line 2`,
				path + ":5: applications[3] must be a string, not a number",
				path + ":6: applications[4] must be a string, not a list",
			},
		},
		{
			"an invalid application is known by its name",
			files{path: "applications: [bad]", "applications/bad/application.yaml": strings.Replace(definition("bad"), "spec:", "spec: []\nx:", 1)},
			[]string{"applications/bad/application.yaml:5: spec must be a mapping, not a list"},
		},
		{
			"an unknown name is not reported while an application has none",
			files{path: "applications: [bad]", "applications/x/application.yaml": "a: ["},
			[]string{"applications/x/application.yaml:1: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes"},
		},
		{"applications is required", files{path: "names: [good]"}, []string{path + ":1: applications is missing: expected a list of application names"}},
		{"a list file is a mapping", files{path: "[good]"}, []string{path + ":1: must be a mapping, not a list"}},
		{"a name like a boolean needs quotes", files{path: "applications: [good]\nowner: NO\n"}, []string{path + `:2: "NO" is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes`}},
		{"a list needs its file", files{"catalogs/l/README.md": ""}, []string{path + ": is missing; if it is a symbolic link, which Flux drops, store the file itself"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, with(test.others).fs()), test.want)
		})
	}
}
