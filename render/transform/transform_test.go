// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/transform"
	"github.com/winnow-dev/winnow/render/yamledit"
)

const head = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: web\nspec:\n"

const none = "omitFields: []\n"

func parseSettings(t testing.TB, config string) settings {
	t.Helper()
	var s settings
	if err := yaml.UnmarshalStrict([]byte(config), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// rules are cases of one transformer: what follows spec, before and after. Without want, the
// very same bytes are expected.
var rules = []struct{ name, config, spec, want string }{
	{
		"versions: a default version that is dropped goes", "versions: ['2']\n" + none,
		"  defaultVersion: '1'\n  versions:\n  - version: '1'\n  - version: '2'\n",
		"  versions:\n  - version: '2'\n",
	},
	{
		"versions: a default version that stays stays", "versions: ['2']\n" + none,
		"  defaultVersion: '2'\n  versions:\n  - version: '1' # old\n  # new\n  - version: '2'\n  method: helm\n",
		"  defaultVersion: '2'\n  versions:\n  # new\n  - version: '2'\n  method: helm\n",
	},
	{
		"versions: what other versions take from a dropped one stays", "versions: ['2', '3']\n" + none,
		"  versions:\n  - version: '1'\n    template: &t {a: b}\n  - version: '2'\n    template: *t\n  - {version: '3', template: *t}\n",
		"  versions:\n    - version: '2'\n      template: {a: b}\n    - {version: '3', template: {a: b}}\n",
	},
	{
		"versions: flow style is kept", "versions: ['2']\n" + none,
		"  # a\n  versions: [{version: '1'}, {version: '2'}] # b\n", "  # a\n  versions: [{version: '2'}] # b\n",
	},
	{
		"versions: dashes on lines of their own", "versions: ['2']\n" + none,
		"  versions:\n  -\n    version: '1'\n  -\n    version: '2'\n", "  versions:\n  -\n    version: '2'\n",
	},
	{
		"values: defaults that are all set change nothing", "values: [{names: [web], defaults: {a: 1, b: {c: 2}}}]\n" + none,
		"  defaultValuesBlock: |\n    a:\n    b: {c: [], d: 3}\n", "",
	},
	{
		"values: overrides that are there already change nothing", "values: [{names: [web], overrides: {a: 1, b: {c: [x]}}}]\n" + none,
		"  defaultValuesBlock: |\n    a: 1\n    b: {c: [ x ]}\n", "",
	},
	{
		"values: other applications' rules change nothing", "values: [{names: [other], overrides: {a: 1}}]\n" + none,
		"  defaultValuesBlock: '{{ not yaml'\n", "",
	},
	{
		"values: KKP's kind without default values gets a block", "values: [{names: [web], overrides: {b: 1, a: ''}}]\n" + none,
		"  method: helm\n", "  method: helm\n  defaultValuesBlock: |\n    a: \"\"\n    b: 1\n",
	},
	{
		"values: an empty block is an empty mapping", "values: [{names: [web], defaults: {a: 1}}]\n" + none,
		"  defaultValuesBlock: \"\" # none yet\n  method: helm\n", "  defaultValuesBlock: | # none yet\n    a: 1\n  method: helm\n",
	},
	{
		"values: the comments of a block without values stay", "values: [{names: [web], defaults: {a: 1}}]\n" + none,
		"  defaultValuesBlock: |- # values\n    # a: 0 {{ .X }}\n\n    # b\n  method: helm\n",
		"  defaultValuesBlock: |- # values\n    # a: 0 {{ .X }}\n\n    # b\n    a: 1\n  method: helm\n",
	},
	{
		"values: an override replaces lists and sets null", "values: [{names: [web], overrides: {a: [3], b: null}}]\n" + none,
		"  defaultValuesBlock: |\n    a:\n    - 1\n    - 2\n    # about b\n    b: {c: d}\n    e: >-\n      f\n      g\n",
		"  defaultValuesBlock: |\n    a:\n      - 3\n    # about b\n    b: null\n    e: >-\n      f\n      g\n",
	},
	{
		"values: what another place refers to is copied", "values: [{names: [web], overrides: {b: {x: 2}}}]\n" + none,
		"  defaultValuesBlock: |\n    # base\n    a: &a\n      x: 1\n    b: *a\n    c: *a\n",
		"  defaultValuesBlock: |\n    # base\n    a:\n      x: 1\n    b:\n      x: 2\n    c:\n      x: 1\n",
	},
	{
		"values: changing an anchored mapping leaves its aliases", "values: [{names: [web], overrides: {a: {x: 2}}}]\n" + none,
		"  defaultValuesBlock: |\n    a: &a\n      x: 1\n    b: *a\n    c: *a\n",
		"  defaultValuesBlock: |\n    a:\n      x: 2\n    b:\n      x: 1\n    c:\n      x: 1\n",
	},
	{
		"values: merge keys count as set and can be overridden", "values: [{names: [web], defaults: {b: {x: 9}}, overrides: {b: {z: 3}}}]\n" + none,
		"  defaultValuesBlock: |\n    a: &a\n      x: 1\n      z: 2\n    b:\n      <<: *a\n",
		"  defaultValuesBlock: |\n    a:\n      x: 1\n      z: 2\n    b:\n      x: 1\n      z: 3\n",
	},
	{
		"values: a quoted block becomes a literal one", "values: [{names: [web], overrides: {a: 2}}]\n" + none,
		"  defaultValuesBlock: \"a: 1\\nb: '{{ .X }}'\\n\"\n", "  defaultValuesBlock: |\n    a: 2\n    b: '{{ .X }}'\n",
	},
	{
		"values: the blank lines that a block keeps stay", "values: [{names: [web], overrides: {a: {c: 1}}}]\n" + none,
		"  defaultValuesBlock: |+ # keep\n    a:\n      b: |\n        x\n\n\n  method: helm\n",
		"  defaultValuesBlock: |+ # keep\n    a:\n      b: |\n        x\n      c: 1\n\n\n  method: helm\n",
	},
	{
		"values: comments behind the values stay", "values: [{names: [web], overrides: {a: 2, z: 1}}]\n" + none,
		"  defaultValuesBlock: |\n    a: null # none\n    \"é\": ü\n    # b: {{ .X }}\n",
		"  defaultValuesBlock: |\n    a: 2 # none\n    \"é\": ü\n    z: 1\n    # b: {{ .X }}\n",
	},
	{
		"values: a folded block becomes a literal one", "values: [{names: [web], overrides: {a: {z: 1}}}]\n" + none,
		"  defaultValuesBlock: >\n    a: {}\n\n    c: d\n\n  method: helm\n",
		"  defaultValuesBlock: |\n    a:\n      z: 1\n    c: d\n\n  method: helm\n",
	},
	{
		"values: a block that others refer to stays for them", "values: [{names: [web], overrides: {a: 1}}]\n" + none,
		"  other: &x |\n    c: d\n  defaultValuesBlock: *x\n",
		"  other: |\n    c: d\n  defaultValuesBlock: |\n    c: d\n    a: 1\n",
	},
	{
		"values: defaultValues that are empty are filled", "values: [{names: [web], overrides: {a: {b: 1}}}]\n" + none,
		"  defaultValues: {}\n", "  defaultValues:\n    a:\n      b: 1\n",
	},
	{
		"values: texts that YAML 1.1 takes for something else are quoted", "values: [{names: [web], overrides: {a: 'yes', b: '1e3', c: ' x', d: \" 1\\n2\", on: '1:20'}}]\n" + none,
		"  defaultValuesBlock: |\n    a: yes\n", "  defaultValuesBlock: |\n    a: \"yes\"\n    b: \"1e3\"\n    c: ' x'\n    d: \" 1\\n2\"\n    \"true\": \"1:20\"\n",
	},
	{
		"omit: fields that are not there change nothing", "{}", "  description: 'selector: x, default: y, enforced: z'\n", "",
	},
	{
		"omit: a mapping that becomes empty goes as well", "omitFields: [selector.datacenters, a.b.c]\n",
		"  method: helm\n  # who\n  selector:\n    # where\n    datacenters: [a]\n  a: {b: {c: 1}}\n  z: 1\n", "  method: helm\n  z: 1\n",
	},
	{
		"omit: a mapping with something left stays", "omitFields: [a.b]\n",
		"  a:\n    # b\n    b:\n    - 1\n\n    c: 2\n", "  a:\n\n    c: 2\n",
	},
	{
		"omit: an empty list omits nothing", none, "  default: true\n", "",
	},
	{
		"omit: what a merge key brings goes as well", "omitFields: [a.b]\n",
		"  x: &x {b: 1, c: 2}\n  a:\n    <<: *x\n", "  x: {b: 1, c: 2}\n  a:\n    c: 2\n",
	},
	{
		"values: the comment behind brackets stays", "values: [{names: [web], overrides: {b: {q: 2}, c: {q: 2}}}]\n" + none,
		"  defaultValuesBlock: |\n    b: {z: 0} # about b\n    c: {} # about c\n    d: 1\n",
		"  defaultValuesBlock: |\n    b: {z: 0, q: 2} # about b\n    c: # about c\n      q: 2\n    d: 1\n",
	},
	{
		"aliases: where nothing changes they stay", "values: [{names: [web], defaults: {b: {x: 2}}}]\nmirrors: [{from: quay.io, to: r.internal}]\n" + none,
		"  other: &x {y: z}\n  another: {<<: *x}\n  defaultValuesBlock: |\n    a: &a\n        x: 1 # one\n    b: {<<: *a}\n", "",
	},
	{
		"aliases: they stay in a block of which nothing changes", "omitFields: [z]\n",
		"  z: 1\n  defaultValuesBlock: |\n    a: &a\n        x: 1 # one\n    b: {<<: *a}\n  method: helm\n",
		"  defaultValuesBlock: |\n    a: &a\n        x: 1 # one\n    b: {<<: *a}\n  method: helm\n",
	},
	{
		"aliases: a block that changes keeps its comments", "values: [{names: [web], overrides: {c: 1}}]\n" + none,
		"  defaultValuesBlock: |\n    # of all\n    a: &a # shared\n      # about x\n      x: 1 # one\n    # {{ .X }}\n    b:\n      # first\n      <<: *a # merged\n      y: 2\n    # last\n",
		"  defaultValuesBlock: |\n    # of all\n    a:\n      # about x\n      # shared\n      x: 1 # one\n    # {{ .X }}\n    b:\n      # first\n      # merged\n      x: 1\n      y: 2\n    # last\n\n    c: 1\n",
	},
	{
		"aliases: the comment of a value stays with what replaces it", "values: [{names: [web], overrides: {a: {x: 1}, b: {q: 2}}}]\n" + none,
		"  defaultValuesBlock: |\n    a: &a 0 # about a\n    b: {z: *a} # about b\n    c: *a\n",
		"  defaultValuesBlock: |\n    a: # about a\n      x: 1\n    b: {z: 0, q: 2} # about b\n    c: 0\n",
	},
	{
		"values: a merge key behind a key wins, as for the readers of the block", "values: [{names: [web], overrides: {z: 1}}]\n" + none,
		"  defaultValuesBlock: |\n    a: &a {k: 1, m: 1}\n    b:\n      k: 2\n      <<: *a\n",
		"  defaultValuesBlock: |\n    a: {k: 1, m: 1}\n    b:\n      k: 1\n      m: 1\n    z: 1\n",
	},
	{
		"values: the first document is edited, which is the one that is read", "values: [{names: [web], overrides: {a: 2, c: 1}}]\n" + none,
		"  defaultValuesBlock: |\n    a: 1\n    ---\n    b: 2\n", "  defaultValuesBlock: |\n    a: 2\n    c: 1\n    ---\n    b: 2\n",
	},
	{
		"values: an empty document is what is read", "values: [{names: [web], overrides: {c: 1}}]\n" + none,
		"  defaultValuesBlock: |\n    ---\n    ---\n    b: 2\n", "  defaultValuesBlock: |\n    c: 1\n",
	},
	{
		"values: nulls in braces stay nulls", "values: [{names: [web], overrides: {a: {z: 1}}}]\n" + none,
		"  defaultValuesBlock: |\n    a: {x: , y}\n", "  defaultValuesBlock: |\n    a: {x: null, y: null, z: 1}\n",
	},
	{
		"values: keys are what the readers of the block read", "values: [{names: [web], overrides: {'8': 3, 'true': 3, 'on': 3, 'y': 3}}]\n" + none,
		"  defaultValuesBlock: |\n    yes: 1\n    010: 2\n", "  defaultValuesBlock: |\n    yes: 3\n    010: 3\n    \"on\": 3\n    \"y\": 3\n",
	},
	{
		"everything: line breaks of Windows stay", "values: [{names: [web], overrides: {a: {b: 1}}}]\nomitFields: [default]\n",
		"  default: true\r\n  defaultValuesBlock: |\r\n    x: y\r\n  method: helm\r\n",
		"  defaultValuesBlock: |\r\n    x: y\r\n    a:\r\n      b: 1\r\n  method: helm\r\n",
	},
}

func TestRules(t *testing.T) {
	for _, test := range rules {
		t.Run(test.name, func(t *testing.T) {
			beginning := head
			if strings.Contains(test.spec, "\r\n") {
				beginning = strings.ReplaceAll(head, "\n", "\r\n")
			}
			s := parseSettings(t, test.config)
			application := load(t, []byte(beginning+test.spec))
			got := applyTo(t, s, application).Document
			if test.want == "" {
				if !isSame(got, application.Document) {
					t.Errorf("changed to:\n%s", got)
				}
				return
			}
			if spec := strings.TrimPrefix(string(got), beginning); spec != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", spec, test.want)
			}
			if again := applyTo(t, s, transformed(t, application, got)).Document; !isSame(again, got) {
				t.Errorf("applied again:\n%s", again)
			}
			build(t, got)
		})
	}
}

// valuesOfTwo are settings whose second entry of values is for the application web.
const valuesOfTwo = "values: [{names: [other], overrides: {b: 1}}, {names: [web], overrides: {a: 1}}]\n" + none

// refusal is a document that Apply refuses because of a field of the settings.
type refusal struct{ name, config, document, field string }

func TestApplyRefuses(t *testing.T) {
	cozystack := "apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: web\nspec:\n  release: {}\n"
	for _, test := range []refusal{
		{"values for a kind without default values", valuesOfTwo, cozystack, "spec.values[1]"},
		{"a block that templates make something else", valuesOfTwo, head + "  defaultValuesBlock: |\n    {{ if .X }}\n    a: 1\n    {{ end }}\n", "spec.values[1]"},
		{"a block with an unquoted template", valuesOfTwo, head + "  defaultValuesBlock: |\n    a: {{ .X }}\n", "spec.values[1]"},
		{"a block that is a list", valuesOfTwo, head + "  defaultValuesBlock: |\n    - a\n", "spec.values[1]"},
		{"a block with a key twice", valuesOfTwo, head + "  defaultValuesBlock: |\n    a: 1\n    a: 2\n", "spec.values[1]"},
		{"both forms of default values", valuesOfTwo, head + "  defaultValuesBlock: 'a: 1'\n  defaultValues: {a: 1}\n", "spec.values[1]"},
		{"templates that encoding would touch", valuesOfTwo, head + "  defaultValuesBlock: |\n    {b: \"{{ \\x41 }}\"}\n", "spec.values[1]"},
		{"dropping every version", "versions: []\n", head + "  versions: [{version: '1'}]\n", "spec.versions"},
		{"a version that is not there", "versions: ['2']\n", head + "  versions: [{version: '1'}]\n", "spec.versions"},
		{"a block that explodes", valuesOfTwo, head + bomb(), "spec.values[1]"},
		{"a block that explodes by merges", valuesOfTwo, head + strings.NewReplacer("[", "{<<: [", "]", "]}", "x, x", "{x: y}").Replace(bomb()), "spec.values[1]"},
		{"an alias that refers to itself", valuesOfTwo, head + "  defaultValuesBlock: |\n    b: &b [*b]\n", "spec.values[1]"},
		{"a merge key that refers to itself", valuesOfTwo, head + "  defaultValuesBlock: |\n    b: &b {<<: *b}\n", "spec.values[1]"},
		{"a merge of a text", valuesOfTwo, head + "  defaultValuesBlock: |\n    b: {<<: x}\n", "spec.values[1]"},
		{"a block that is nested deeply", valuesOfTwo, head + "  defaultValuesBlock: |\n    b: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n", "spec.values[1]"},
	} {
		t.Run(test.name, test.check)
	}
}

func TestCostOfDocumentsThatAreTooLarge(t *testing.T) {
	for _, test := range []refusal{
		{"a block of very many nodes", valuesOfTwo, head + "  defaultValuesBlock: |\n    b: [" + strings.Repeat("x,", 200_000) + "]\n", "spec.values[1]"},
		{"a result that aliases make too large", valuesOfTwo,
			head + "  defaultValuesBlock: |\n    b: &b " + strings.Repeat("x", 1000) + "\n    c: [" + strings.Repeat("*b, ", 1040) + "]\n    d: [" + strings.Repeat("[[[[]]]], ", 5000) + "]\n", "spec.values[1]"},
		{"a result that is too large", valuesOfTwo, head + "  defaultValuesBlock: |\n    b: " + strings.Repeat("x", 1<<20-len(head)-32) + "\n", "spec.values[1]"},
	} {
		t.Run(test.name, test.check)
	}
}

func (r refusal) check(t *testing.T) {
	s := parseSettings(t, r.config)
	pipeline, err := transform.New(s.config())
	if err != nil {
		t.Fatal(err)
	}
	out, err := pipeline.Apply(context.Background(), s.input(load(t, []byte(r.document))))
	var refused *transform.Error
	if !errors.As(err, &refused) || errors.Is(err, yamledit.ErrMismatch) {
		t.Fatalf("error = %v, want an *Error; got:\n%s", err, out.Document)
	}
	if refused.Application != "web" || refused.Field != r.field || !strings.Contains(err.Error(), "web") {
		t.Errorf("error = %v of %s and %s", err, refused.Application, refused.Field)
	}
}

// bomb is a block that is small, and without bounds when its aliases are expanded.
func bomb() string {
	var block strings.Builder
	block.WriteString("  defaultValuesBlock: |\n    b: &b [x, x]\n")
	for name := 'c'; name <= 'z'; name++ {
		fmt.Fprintf(&block, "    %[1]c: &%[1]c [%[2]s*%[3]c]\n", name, strings.Repeat("*"+string(name-1)+", ", 8), name-1)
	}
	return block.String()
}

func TestPipelinesAreSafeForConcurrentUse(t *testing.T) {
	var s settings
	if err := yaml.UnmarshalStrict(read(t, "testdata/all/config.yaml"), &s); err != nil {
		t.Fatal(err)
	}
	pipeline, err := transform.New(s.config())
	if err != nil {
		t.Fatal(err)
	}
	application, want := load(t, read(t, "testdata/all/in.yaml")), read(t, "testdata/all/want.yaml")
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			if out, err := pipeline.Apply(context.Background(), s.input(application)); err != nil || string(out.Document) != string(want) {
				t.Errorf("%v: got:\n%s", err, out.Document)
			}
		})
	}
	workers.Wait()
}

func TestNewRefusesEveryWrongField(t *testing.T) {
	_, err := transform.New(transform.Config{
		Values: []v1alpha1.ValuesRule{
			{Names: []string{"a"}, Defaults: &apiextensionsv1.JSON{Raw: []byte(`[]`)}, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{`)}},
			{Names: []string{"a"}, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{} {}`)}},
			{Names: []string{"a"}, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"a": 1e999}`)}},
			{Names: []string{"a"}, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"a": 9223372036854775807}`)}, Defaults: &apiextensionsv1.JSON{Raw: []byte(`{"a": 18446744073709551615}`)}},
		},
		Mirrors:    []v1alpha1.Mirror{{From: "https://a", To: "b/"}, {From: "a", To: "b"}, {From: "a", To: "c"}},
		OmitFields: []string{"a..b", "versions"},
	})
	want := []string{
		"spec.values[0].defaults", "spec.values[0].overrides", "spec.values[1].overrides", "spec.values[2].overrides", "spec.values[3].defaults",
		"spec.mirrors[0].from", "spec.mirrors[0].to", "spec.mirrors[2].from", "spec.omitFields[0]", "spec.omitFields[1]",
	}
	if got := fields(err); !reflect.DeepEqual(got, want) {
		t.Errorf("fields = %v, want %v", got, want)
	}
}

// fields returns the fields of joined errors.
func fields(err error) []string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		var one *transform.Error
		if errors.As(err, &one) {
			return []string{one.Field}
		}
		return nil
	}
	var all []string
	for _, one := range joined.Unwrap() {
		all = append(all, fields(one)...)
	}
	return all
}
