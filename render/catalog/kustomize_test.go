// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"strings"
	"testing"
)

// What kustomize does with each of the refused was measured; FuzzRender of package render holds
// it to carry what is accepted.
func TestLoadRefusesWhatKustomizeDoesNotCarry(t *testing.T) {
	const path = "applications/x/application.yaml"
	for _, test := range []struct {
		name, spec string // the spec begins in line 7
		want       []string
	}{
		{"keys in quotes are strings", "a: {'80': b, \"true\": c, !!str 1: d}\nyes: e\n", nil},
		{
			"keys that are numbers, booleans or timestamps fail at any depth",
			"a:\n- {80: b}\n- 1.5: b\n- true: b\n2026-01-02: b\n0x10: b\n",
			[]string{
				`8: has the key "80", which is a number: put it in quotes`,
				`9: has the key "1.5", which is a number: put it in quotes`,
				`10: has the key "true", which is a boolean: put it in quotes`,
				`11: has the key "2026-01-02", which is a timestamp: put it in quotes`,
				`12: has the key "0x10", which is a number: put it in quotes`,
			},
		},
		{
			"a key << that is no merge key is dropped",
			"a: {'<<': b}\nb: {!!str <<: c}\n",
			[]string{
				`7: has the key "<<" as a string, which kustomize drops`,
				`8: has the key "<<" as a string, which kustomize drops`,
			},
		},
		{"an alias as a key is confused with its name", "a: &x b\n*x : c\n", []string{`8: has the alias "*x" as a key, which kustomize may take for another: write the key`}},
		{"long keys are carried", "? " + strings.Repeat("k", 998) + "\n: b\n", nil},
		{
			"longer ones are not, escaped", "? " + strings.Repeat("k", 999) + "\n: b\n? \"" + strings.Repeat(`\0`, 250) + "\"\n: c\n",
			[]string{
				`7: has the key "` + strings.Repeat("k", 80) + `...", which is too long for kustomize to read again`,
				`9: has the key "` + strings.Repeat(`\x00`, 80) + `...", which is too long for kustomize to read again`,
			},
		},
		{"merges of one level are carried", "a: &a {b: c}\nd: &d\n  e: # f\n    g:\nh:\n  <<: [*a, *d, {i: j}]\n  b: k\n", nil},
		{
			"merges of merges lose members",
			"a: &a {b: c}\nd: &d {<<: *a}\ne: {<<: *d}\nf: {<<: [{<<: {g: 1}}, {h: 2}]}\n",
			[]string{
				"9: merges what has a merge key << itself, which kustomize gets wrong",
				"10: merges what has a merge key << itself, which kustomize gets wrong",
			},
		},
		{"a merge of an alias to a list is refused", "a: &a [{b: c}]\nd: {<<: *a}\n", []string{"8: has a merge key << with an alias to a list, which kustomize refuses"}},
		{"tags that fit are carried", "a: [!!int 5, !!int '5', !!float 5, !!bool true, !!null ~, !!str 5, !!map {}, !!seq [], ! b]\n", nil},
		{
			"tags that do not fit fail",
			"a: !!int b\nc: !!int 1.5\nd: !!float b\ne: !!bool yes\nf: !!null b\ng: !!timestamp b\nh: !!binary b\ni: !!str [b]\nj: !!map b\nk: !!null {b: c}\n",
			[]string{
				`7: has the tag "!!int", which its value does not fit`,
				`8: has the tag "!!int", which its value does not fit`,
				`9: has the tag "!!float", which its value does not fit`,
				`10: has the tag "!!bool", which its value does not fit`,
				`11: has the tag "!!null", which its value does not fit`,
				`12: has the tag "!!timestamp", which its value does not fit`,
				`13: has the tag "!!binary", which has no meaning in Kubernetes`,
				`14: has the tag "!!str", which its value does not fit`,
				`15: has the tag "!!map", which its value does not fit`,
				`16: has the tag "!!null", which its value does not fit`,
			},
		},
		{
			"other tags mean nothing",
			"a: !secret b\nc: !!set {d}\n!!merge e: {}\n",
			[]string{
				`7: has the tag "!secret", which has no meaning in Kubernetes`,
				`8: has the tag "!!set", which has no meaning in Kubernetes`,
				`9: has the tag "!!merge", which has no meaning in Kubernetes`,
			},
		},
		{"binary hides texts, which kustomize decodes", "a: !!binary /w==\nb: !!binary fw==\nc: !<tag:yaml.org,2002:binary> aHR0cHM6Ly9hLmV4YW1wbGU=\n", []string{
			`7: has the tag "!!binary", which has no meaning in Kubernetes`,
			`8: has the tag "!!binary", which has no meaning in Kubernetes`,
			`9: has the tag "!!binary", which has no meaning in Kubernetes`,
		}},
		{"numbers of every notation are carried", "a: [0777, 0o17, 0b11, 1_000, 1e3, -0.0, .5, 18446744073709551616, 1e400]\n", nil},
		{"numbers must be finite", "a: [.inf,\n -.Inf]\nb: .nan\nc: !!float .inf\n", []string{
			`7: ".inf" is not a finite number`,
			`8: "-.Inf" is not a finite number`,
			`9: ".nan" is not a finite number`,
			`10: ".inf" is not a finite number`,
		}},
		{"timestamps that kustomize prints as they are stay", "a: [2026-01-02T03:04:05Z, '2026-01-02', 2026-01-02T03:04:05.1+01:00]\n", nil},
		{"timestamps that kustomize rewrites are refused", "a: 2026-01-02\nb: 2026-01-02 03:04:05\nc: 2026-01-02T03:04:05.100Z\n", []string{
			`7: has the timestamp "2026-01-02", which kustomize turns into "2026-01-02T00:00:00Z": put it in quotes`,
			`8: has the timestamp "2026-01-02 03:04:05", which kustomize turns into "2026-01-02T03:04:05Z": put it in quotes`,
			`9: has the timestamp "2026-01-02T03:04:05.100Z", which kustomize turns into "2026-01-02T03:04:05.1Z": put it in quotes`,
		}},
		{"control characters that kustomize escapes are carried", `a: "\0\t\e\r\L\P\_\uFEFF\uFFFD\U0010FFFF"` + "\n", nil},
		{
			"characters that kustomize writes raw are not, nor as keys",
			`a: "b\x7f"` + "\n" + `c: "\x80"` + "\n" + `d: "\N"` + "\n" + `e: "\x9f"` + "\n" + `"\ufffe": f` + "\n" + `g: "\uffff"` + "\n",
			[]string{
				"7: has the character U+007F, which kustomize cannot carry",
				"8: has the character U+0080, which kustomize cannot carry",
				"9: has the character U+0085, which kustomize cannot carry",
				"10: has the character U+009F, which kustomize cannot carry",
				"11: has the character U+FFFE, which kustomize cannot carry",
				"12: has the character U+FFFF, which kustomize cannot carry",
			},
		},
		{"values left out are null in lines", "a:\nb: &b\n  c:\nd:\n- *b\n-\n", nil},
		{
			"values left out within brackets become empty strings",
			"a: {b}\nc: [{d: }]\ne: &e\n  f:\ng: [*e]\nh: {<<: *e}\ni: {j: !!null ~, k: ~}\n",
			[]string{
				"7: leaves a value out within brackets, which kustomize turns into an empty string: write null",
				"8: leaves a value out within brackets, which kustomize turns into an empty string: write null",
				`11: has within brackets the alias "*e" to a value that is left out, which kustomize turns into an empty string: write null`,
				`12: has within brackets the alias "*e" to a value that is left out, which kustomize turns into an empty string: write null`,
			},
		},
		{
			"values left out after an anchor or a tag are refused",
			"a: &a # b\nc: !!null\nd: [&e ]\n&f g: h\n",
			[]string{
				"7: leaves out the value after an anchor or a tag, where kustomize misplaces comments: write the value",
				"8: leaves out the value after an anchor or a tag, where kustomize misplaces comments: write the value",
				"9: leaves out the value after an anchor or a tag, where kustomize misplaces comments: write the value",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			for _, violation := range test.want {
				want = append(want, path+":"+violation)
			}
			spec := strings.ReplaceAll("\n"+strings.TrimSuffix(test.spec, "\n"), "\n", "\n  ") + "\n"
			compare(t, violations(t, files{path: strings.TrimSuffix(definition("x"), "\n") + spec}.fs()), want)
		})
	}
}

func TestLoadRefusesLayoutThatKustomizeChanges(t *testing.T) {
	const path = "applications/x/application.yaml"
	good := definition("x")
	for _, test := range []struct {
		name, document string
		want           []string
	}{
		{"folded text of paragraphs is carried", good + "  a: >-\n    b\n    c\n\n    d\n", nil},
		{
			"folded text with indented lines or empty ones at its end gets more lines",
			good + "  a: >\n    b\n      c\n  d: >2\n     e\n    f\n  g: >+\n    h\n\n",
			[]string{
				path + ":7: is folded with > but has indented lines or empty ones at its end, to which kustomize adds: use | or quotes",
				path + ":10: is folded with > but has indented lines or empty ones at its end, to which kustomize adds: use | or quotes",
				path + ":13: is folded with > but has indented lines or empty ones at its end, to which kustomize adds: use | or quotes",
			},
		},
		{"literal text of any shape is carried", good + "  a: |2+\n     b\n    \tc # d\n\n\n  e: |- # f\n    ---\n", nil},
		{
			"literal text that begins with a tab cannot be read again",
			good + "  a: |2\n    \tb\n  c: \"\\tb\"\n", []string{path + ":7: begins with a tab, which kustomize cannot write after |: use quotes"},
		},
		{"empty lines at the end of a text are carried", good + "  a: |+\n    b\n\n  # c\n  d: e # f\n", nil},
		{
			"empty lines at the end of a text grow before a comment at the end",
			good + "  a: |+\n    b\n\n  c: |+\n\n# d\n...\n",
			[]string{
				path + ":7: ends with an empty line, to which kustomize may add one if the file ends with a comment: remove either",
				path + ":10: ends with an empty line, to which kustomize may add one if the file ends with a comment: remove either",
			},
		},
		{"a comment beside the beginning of a text is carried", good + "  a: # b\n  - | # c\n    d\n", nil},
		{
			"a second comment becomes part of the text",
			good + "  a: &a # b\n  - | # c\n    d\n  e: !!seq # f\n  - g\n\n    h # i\n",
			[]string{
				path + ":8: has two comments beside it, and kustomize may make one of them a part of a text: remove one",
				path + ":11: has two comments beside it, and kustomize may make one of them a part of a text: remove one",
			},
		},
		{
			"a comment beside a key is not written within brackets",
			good + "  a: &a\n    b: # c\n      d: e\n  f: [*a]\n  g:\n  - *a\n",
			[]string{path + `:10: has within brackets the alias "*a" to a comment beside a key, which kustomize cannot write: put the comment above the key`},
		},
		{"markers with comments are carried", "\ufeff# a\r\n---\r\n" + good + "...\n---\n--- # größe\n---\t# b\n", nil},
		{
			"a document on the line of its marker is cut off",
			"\n--- " + `{apiVersion: a.b/v1, kind: ApplicationDefinition, metadata: {name: x}, spec: {a: "` + "\n---b\n---# c\n" + `"}}`,
			[]string{
				path + ":2: begins with ---, where kustomize cuts the file: only a comment may follow",
				path + ":3: begins with ---, where kustomize cuts the file: only a comment may follow",
				path + ":4: begins with ---, where kustomize cuts the file: only a comment may follow",
			},
		},
		{"a document on the line of the first marker is carried", "--- {apiVersion: a.b/v1, kind: ApplicationDefinition, metadata: {name: x}, spec: {}}\n", nil},
		{
			"a byte order mark is nowhere but at the beginning", "\ufeff" + good + "  a: \ufeffb # \ufeff\n",
			[]string{path + ":7: has a byte order mark (U+FEFF), at which kustomize may lose a character: remove or escape it"},
		},
		{"directives are cut off", "%YAML 1.1\n---\n" + good, []string{path + ":1: begins with %, as a directive does, which kustomize cannot read"}},
		{"directives after comments are, too", "# a\n%TAG ! !b\n---\n" + good, []string{path + ":2: begins with %, as a directive does, which kustomize cannot read"}},
		{
			"line breaks of old hide what follows a comment",
			good + "# a\u2028  b: c\n# d\r  e: f\n# g\u0085\n# h\u2029\n",
			[]string{
				path + ":7: has a line break other than a line feed, which only some readers of YAML take for one: remove or escape it",
				path + ":8: has a line break other than a line feed, which only some readers of YAML take for one: remove or escape it",
				path + ":9: has a line break other than a line feed, which only some readers of YAML take for one: remove or escape it",
				path + ":10: has a line break other than a line feed, which only some readers of YAML take for one: remove or escape it",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, files{path: test.document}.fs()), test.want)
		})
	}
}
