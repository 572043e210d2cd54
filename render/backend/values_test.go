// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var o object
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

func TestMergeValues(t *testing.T) {
	for _, test := range []struct{ name, values, over, want string }{
		{"mappings are merged", "{a: {b: 1, c: 2}}", "{a: {c: 3, d: 4}}", "{a: {b: 1, c: 3, d: 4}}"},
		{"lists are replaced", "{a: [1, 2]}", "{a: [3]}", "{a: [3]}"},
		{"a scalar replaces a mapping", "{a: {b: 1}}", "{a: x}", "{a: x}"},
		{"a mapping replaces a scalar", "{a: x}", "{a: {b: 1}}", "{a: {b: 1}}"},
		{"null stays, to delete what lies under both", "{a: {b: 1}, c: 1}", "{a: null, c: 2}", "{a: null, c: 2}"},
		{"null below stays", "{a: {b: 1}}", "{a: {b: null}}", "{a: {b: null}}"},
		{"what is deleted can be set again", "{a: null}", "{a: {b: 1}}", "{a: {b: 1}}"},
		{"an empty mapping changes nothing", "{a: {b: 1}}", "{a: {}}", "{a: {b: 1}}"},
		{"nothing over values", "{a: 1}", "{}", "{a: 1}"},
		{"values over nothing", "{}", "{a: {b: [{c: 1}]}}", "{a: {b: [{c: 1}]}}"},
	} {
		values, over := parse(t, test.values), parse(t, test.over)
		got := backend.MergeValues(values, over)
		if want := parse(t, test.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", test.name, got, want)
		}
		scramble(got)
		if !reflect.DeepEqual(values, parse(t, test.values)) || !reflect.DeepEqual(over, parse(t, test.over)) {
			t.Errorf("%s: the result shares memory with the arguments", test.name)
		}
	}
}

// defaults returns the content of the ConfigMap with the default values, nil without one.
func defaults(t testing.TB, objects []backend.Object) map[string]any {
	t.Helper()
	for _, o := range objects {
		if o.Role == backend.Values {
			text, _, _ := unstructured.NestedString(o.Object, "data", "values.yaml")
			return parse(t, text)
		}
	}
	return nil
}

func block(text string) string {
	return "  defaultValuesBlock: |\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

func TestDefaultValues(t *testing.T) {
	for _, test := range []struct{ name, spec, values, want string }{
		{"a block", block("a: 1\nb: [x]"), "{}", "{a: 1, b: [x]}"},
		{"the older mapping", "  defaultValues: {a: 1}\n", "{}", "{a: 1}"},
		{"aliases and merge keys", block("a: &a {x: 1}\nb: {<<: *a, z: 2}"), "{}", "{a: {x: 1}, b: {x: 1, z: 2}}"},
		{"booleans as Helm reads them", block("a: yes\nb: off\nc: 'no'\nd: 0x10"), "{}", "{a: true, b: false, c: 'no', d: 16}"},
		{"large numbers", block("a: 9007199254740993\nb: 1.5"), "{}", "{a: 9007199254740993, b: 1.5}"},
		{"one document", block("a: 1\n---\nb: 1"), "{}", "{a: 1}"},
		{"what the instance replaces goes", block("a: 1\nb: {c: 1, d: 2}"), "{a: 2, b: {c: 3}}", "{b: {d: 2}}"},
		{"what the instance deletes goes", block("a: {b: 1}\nc: 1"), "{a: null}", "{c: 1}"},
		{"null deletes the default of the chart", block("a: null"), "{}", "{a: null}"},
		{"a text that is executed", block("a: '{{ print \"x\" 1 }}'"), "{}", "{a: x1}"},
		{"a text with an escape", block("a: '{{ `{{ .Values.x }}` }}'"), "{}", "{a: '{{ .Values.x }}'}"},
		{"a number that a template prints is a text, as in KKP", block("a: '{{ 3 }}'"), "{}", "{a: '3'}"},
		{"a comment alone", block("a: '{{/* nothing */}}'\nb: '  {{- \"x\" -}}  '"), "{}", "{a: '', b: x}"},
		{"a brace that begins no template", block("a: '{ {x} }'\nb: '}}'"), "{}", "{a: '{ {x} }', b: '}}'}"},
		{"a condition", block("a: '{{ if and (not false) (ne 1 2) }}yes{{ else }}no{{ end }}'"), "{}", "{a: 'yes'}"},
		{"KKP's data in what is replaced", block("a: '{{ .Cluster.Name }}'\nb: {c: '{{ .Cluster.Version }}', d: 1}\ne: [{f: '{{ . }}'}]"), "{a: x, b: {c: null}, e: []}", "{b: {d: 1}}"},
		{"KKP's data below a mapping that is replaced", block("b: {c: '{{ .Cluster.Version }}'}"), "{b: 1}", ""},
		{"none", "", "{a: 1}", ""},
		{"an empty block", block("# nothing"), "{}", ""},
		{"a block of null", block("null"), "{}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects := build(t, backend.Helm, kkpInstance(t, func(i *backend.Instance) { i.Values = parse(t, test.values) }, test.spec))
			got := defaults(t, objects)
			if want := parse(t, test.want); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			from, _, _ := unstructured.NestedSlice(ofRole(t, objects, backend.Main).Object, "spec", "valuesFrom")
			if (len(from) > 0) != (got != nil) {
				t.Errorf("valuesFrom = %v", from)
			}
		})
	}
}

func TestDefaultValuesThatCannotBeUsed(t *testing.T) {
	const at = "spec.defaultValuesBlock"
	for _, test := range []struct {
		name, spec, values string
		want               []problem
	}{
		{"KKP's data", block("a: {b: ['x', '{{ .Cluster.Name }}']}\nc: '{{ $.Cluster }}'"), "{}", []problem{{at + ".a.b[1]", `".Cluster.Name"`}, {at + ".c", `"$.Cluster"`}}},
		{"KKP's data beside what is replaced", block("a: {b: '{{ .Cluster.Name }}', c: 1}"), "{a: {c: 2}}", []problem{{at + ".a.b", "replace it"}}},
		{"KKP's data as an argument", block("a: '{{ print (.Cluster.Name) }}'"), "{}", []problem{{at + ".a", "which only KKP has"}}},
		{"KKP's data in a branch that is not taken", block("a: '{{ if false }}{{ .Cluster.Name }}{{ end }}'"), "{}", []problem{{at + ".a", "which only KKP has"}}},
		{"what KKP does not have", block("a: '{{ .Values.host }}'\nb: '{{ .Cluster.Namex }}'\nc: '{{ upper 1 }}'"), "{}", []problem{
			{at + ".a", `".Values.host", which KKP does not have either: replace it`}, {at + ".b", "KKP does not have either"}, {at + ".c", `"upper", which KKP does not have either`}}},
		{"a function", block("a: '{{ printf \"%1000000000d\" 1 }}'"), "{}", []problem{{at + ".a", `"printf"`}}},
		{"a function that nobody has", block("a: '{{ env \"HOME\" }}'"), "{}", []problem{{at + ".a", `"env"`}}},
		{"a loop", block("a: '{{ range 1000000000 }}x{{ end }}'"), "{}", []problem{{at + ".a", "not allowed here"}}},
		{"a variable", block("a: '{{ $a := \"x\" }}{{ $a }}'"), "{}", []problem{{at + ".a", "not allowed here"}}},
		{"a definition", block("a: '{{ define \"x\" }}{{ template \"x\" }}{{ end }}{{ template \"x\" }}'"), "{}", []problem{{at + ".a", "not allowed here"}}},
		{"a block of its own", block("a: '{{ block \"x\" 1 }}y{{ end }}'"), "{}", []problem{{at + ".a", "not allowed here"}}},
		{"a template that is none", block("a: '{{ if }}'"), "{}", []problem{{at + ".a", "no valid template"}}},
		{"a template that fails", block("a: '{{ eq 1 \"x\" }}'"), "{}", []problem{{at + ".a", "fails"}}},
		{"a number that JSON does not have", block("a: .nan"), "{}", []problem{{at, "NaN"}}},
		{"an alias bomb", block("a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e]"), "{}", []problem{{at, "aliases that expand"}}},
		{"a loop that is broken out of", block("a: '{{ break }}'"), "{}", []problem{{at + ".a", "no valid template"}}},
		{"a method of nothing", block("a: '{{ nil.x }}'"), "{}", []problem{{at + ".a", "no valid template"}}},
		{"another dot", block("a: '{{ with 1 }}{{ . }}{{ end }}'"), "{}", []problem{{at + ".a", "not allowed here"}}},
		{"a key", block("'{{ print 1 }}': 1"), "{}", []problem{{at + ".{{ print 1 }}", "is a key"}}},
		{"no YAML", block("a: [\n{{ if .Cluster }}"), "{}", []problem{{at, "YAML"}}},
		{"no mapping", block("- a"), "{}", []problem{{at, "mapping"}}},
		{"a key twice", block("a: 1\na: 2"), "{}", []problem{{at, "twice"}}},
		{"both fields", "  defaultValues: {a: 1}\n" + block("a: 2"), "{}", []problem{{at, "one of them"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backends.Named(backend.Helm).Build(kkpInstance(t, func(i *backend.Instance) { i.Values = parse(t, test.values) }, test.spec))
			checkProblems(t, err, test.want...)
		})
	}
}

// Readers of YAML and JSON round an integer that no int64 holds, so that another number would run.
func TestNumbersThatWouldBeRounded(t *testing.T) {
	const rounded = "has a number that readers of YAML and JSON round"
	for _, test := range []struct {
		name, backend, spec, values string
		want                        []problem
	}{
		{"the largest that an int64 holds", backend.Helm, block("a: 9223372036854775807\nb: -9223372036854775807"), "{a: 9223372036854775807, c: -9223372036854775807}", nil},
		{"fractions and exponents", backend.Helm, block("a: 0.1\nb: 1e18"), "{c: 1.5e-300}", nil},
		{"a text", backend.Helm, block("a: '18446744073709551615'"), "{c: '9223372036854775808'}", nil},
		{"values of an instance", backend.Helm, "", "{a: {b: [1, 9223372036854775808]}}", []problem{{"values.a.b[1]", rounded}}},
		{"a number far below all", backend.Helm, "", "{a: -92233720368547758090}", []problem{{"values.a", rounded}}},
		{"a number with many digits", backend.Helm, "", "{a: 100000000000000000000000000000}", []problem{{"values.a", rounded}}},
		{"default values", backend.Helm, block("a: {b: 18446744073709551615}"), "{}", []problem{{"spec.defaultValuesBlock", "a.b " + rounded}}},
		{"default values beside templates", backend.Helm, block("a: [18446744073709551615]\nb: '{{ 1 }}'"), "{}", []problem{{"spec.defaultValuesBlock", "a[0] " + rounded}}},
		{"default values in a mapping", backend.Helm, "  defaultValues: {a: 9223372036854775808}\n", "{}", []problem{{"spec.defaultValues", "a " + rounded}}},
		{"default values under those of an installation", backend.ApplicationInstallation, block("a: 18446744073709551615"), "{b: 1}", []problem{{"spec.defaultValuesBlock", "a " + rounded}}},
		{"values of an installation", backend.ApplicationInstallation, "", "{a: 18446744073709551615}", []problem{{"values.a", rounded}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backends.Named(test.backend).Build(kkpInstance(t, func(i *backend.Instance) { i.Values = parse(t, test.values) }, test.spec))
			if len(test.want) > 0 || err != nil {
				checkProblems(t, err, test.want...)
			}
		})
	}
}

// Templates of a definition end, whatever they are, and make no more than they have as text.
func TestCostOfHostileTemplates(t *testing.T) {
	const notAllowed, none = "not allowed here", "no valid template"
	double := "{{ print" + strings.Repeat(` "x"`, 10) + "}}"
	for _, test := range []struct{ name, text, want string }{
		{"many conditions", strings.Repeat("{{if 1}}", 50_000) + strings.Repeat("{{end}}", 50_000), "more than 10000 template actions"},
		{"deep conditions", strings.Repeat("{{if 1}}", 4_900) + strings.Repeat("{{end}}", 4_900), ""},
		{"many parentheses", "{{" + strings.Repeat("(", 400_000) + "1" + strings.Repeat(")", 400_000) + "}}", none},
		{"many pipes", "{{ 1" + strings.Repeat("|print", 100_000) + "}}", ""},
		{"many arguments", "{{ print" + strings.Repeat(" 1e308", 100_000) + "}}", ""},
		{"a large number", "{{ 1e1000000000 }}", none},
		{"a loop", "{{ range 1000000000 }}x{{ end }}", notAllowed},
		{"a template that uses itself", `{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`, notAllowed},
		{"a width of a billion", `{{ printf "%1000000000d" 1 }}`, `"printf"`},
		{"a text that is repeated", `{{ repeat 1000000000 "x" }}`, `"repeat"`},
		{"many templates", strings.Repeat(double, 10_000), ""},
		{"a loop that is broken out of", "{{ break }}", none},
	} {
		t.Run(test.name, func(t *testing.T) {
			instance := kkpInstance(t, nil, "  defaultValues: {a: "+yamlQuoted(test.text)+"}\n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := backends.Named(backend.Helm).Build(instance)
			runtime.ReadMemStats(&after)
			if test.want != "" {
				checkProblems(t, err, problem{"spec.defaultValues.a", test.want})
			}
			if test.want == "" && err != nil || err != nil && len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes: %.300v", len(err.Error()), err)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 128<<20 {
				t.Errorf("allocated %d MB", allocated>>20)
			}
		})
	}
}

func yamlQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func TestTheNameOfTheDefaultsChangesWithThem(t *testing.T) {
	names := map[string]bool{}
	for _, spec := range []string{block("a: 1"), block("a: 2"), block("# a comment\na:   1")} {
		for _, o := range build(t, backend.Helm, kkpInstance(t, nil, spec)) {
			if o.Role == backend.Values {
				names[o.GetName()] = true
			}
		}
	}
	if len(names) != 2 {
		t.Errorf("names: %v", names)
	}
}

func TestValuesOfInstallationsHoldTheDefaults(t *testing.T) {
	for _, test := range []struct{ name, spec, values, want string }{
		{"templates are KKP's", block("a: '{{ .Cluster.Name }}'\nb: 1"), "{b: 2}", "{a: '{{ .Cluster.Name }}', b: 2}"},
		{"the older mapping", "  defaultValues: {a: 1}\n", "{}", "{a: 1}"},
		{"null deletes", block("a: {b: 1}"), "{a: null}", "{a: null}"},
		{"none", "", "{}", ""},
	} {
		instance := kkpInstance(t, func(i *backend.Instance) { i.Values = parse(t, test.values) }, test.spec)
		main := ofRole(t, build(t, backend.ApplicationInstallation, instance), backend.Main)
		got, isSet, _ := unstructured.NestedString(main.Object, "spec", "valuesBlock")
		if want := parse(t, test.want); !reflect.DeepEqual(parse(t, got), want) || isSet != (want != nil) {
			t.Errorf("%s: got %q, want %v", test.name, got, want)
		}
	}
}
