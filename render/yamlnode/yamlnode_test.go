// SPDX-License-Identifier: Apache-2.0

package yamlnode_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// content returns that of the only document of a text.
func content(t testing.TB, text string) *yaml.Node {
	t.Helper()
	var found *yaml.Node
	for document, err := range yamlnode.Documents([]byte(text)) {
		if err != nil || found != nil {
			t.Fatalf("reading %q: %v", text, err)
		}
		found = document.Content[0]
	}
	return found
}

func TestDocuments(t *testing.T) {
	for _, test := range []struct {
		name, text string
		values     []string
		line       int
		message    string
	}{
		{name: "nothing", text: ""},
		{name: "comments and markers", text: "---\n# a\n---\n"},
		{name: "a written null is one", text: "null\n", values: []string{"null"}},
		{name: "empty ones are left out", text: "---\n---\na\n---\n---\nb\n", values: []string{"a", "b"}},
		{name: "an error comes last", text: "a\n---\nb: [\n---\nc\n", values: []string{"a"}, line: 4, message: "did not find expected node content"},
		{name: "an error of the first line", text: "a: b: c", line: 1, message: "mapping values are not allowed in this context"},
		{name: "an error without a line", text: "a: *b\n", message: "unknown anchor 'b' referenced"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var values []string
			var line int
			var message string
			for document, err := range yamlnode.Documents([]byte(test.text)) {
				if err != nil {
					line, message = yamlnode.Position(err, []byte(test.text))
					continue
				}
				values = append(values, document.Content[0].Value)
			}
			if !reflect.DeepEqual(values, test.values) || line != test.line || message != test.message {
				t.Errorf("got %q and %d: %q", values, line, message)
			}
		})
	}
}

// laughs returns levels of lists, each of ten aliases to the level before.
func laughs(levels int, format string) string {
	text := "l0: &l0 {x: y}\n"
	for i := 1; i <= levels; i++ {
		aliases := strings.Repeat(fmt.Sprintf("*l%d,", i-1), 10)
		text += fmt.Sprintf("l%d: &l%d "+format+"\n", i, i, aliases)
	}
	return text
}

func TestCheck(t *testing.T) {
	const bomb = "has aliases that expand to more than 100000 nodes"
	lists := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for _, test := range []struct {
		name, text string
		want       []string
		bounded    bool
	}{
		{"plain values", "a: [1, {b: c}]\n", nil, true},
		{"a hundred levels", lists(100), nil, true},
		{"more", lists(101), []string{"1: is nested deeper than 100 levels"}, false},
		{"ten thousand levels", lists(9999), []string{"1: is nested deeper than 100 levels"}, false},
		{"more by an alias", "a: &a " + lists(60) + "\nb: " + strings.Repeat("[", 60) + "*a" + strings.Repeat("]", 60),
			[]string{`2: is nested deeper than 100 levels by the alias "*a"`}, false},
		{"a thousand laughs", laughs(3, "[%s]"), nil, true},
		{"a billion laughs", laughs(9, "[%s]"), []string{"6: " + bomb}, false},
		{"a billion laughs by merges", laughs(9, "{<<: [%s]}"), []string{"6: " + bomb}, false},
		{"long texts", "a: &a " + strings.Repeat("x", 1<<19) + "\nb: [*a, *a]\n", []string{"2: has aliases that expand to more than 1048576 bytes"}, false},
		{"a long text without an alias", "a: b\nc: " + strings.Repeat("x", 1<<20) + "\n", []string{"2: has more than 1048576 bytes of keys and values"}, false},
		{"an alias to what holds it", "a: &a [*a]\n", []string{`1: has an alias that refers to itself: "*a"`}, false},
		{"a merge of what holds it", "a: &a\n  b: {<<: *a}\n", []string{`2: has an alias that refers to itself: "*a"`}, false},
		{"a key that holds itself", "a: &a\n  *a : b\n", []string{`2: has an alias that refers to itself: "*a"`}, false},
		{"an anchor that is defined again", "a: &a [x]\nb: &a [*a]\nc: *a\n", []string{`2: has an alias that refers to itself: "*a"`}, false},
		{"a key twice", "a: 1\nb: {'1': x, 0x1: y, 1.0: z}\na: 2\n", []string{`2: has the key "1" twice, first in line 2`, `2: has the key "1" twice, first in line 2`, `3: has the key "a" twice, first in line 1`}, true},
		{"a quoted merge key twice", "'<<': a\n\"<<\": b\n", []string{`2: has the key "<<" twice, first in line 1`}, true},
		{"keys that are no strings", "? [a]\n: b\n~: c\n", []string{"1: has a key that is not a string", "3: has a key that is not a string"}, true},
		{"a merge of a text", "<<: a\n", []string{"1: has a merge key << with something that is not a mapping or a list of mappings"}, true},
		{"a merge of a list of texts", "<<: [{a: b}, c]\n", []string{"1: has a merge key << with something that is not a mapping or a list of mappings"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			start := time.Now()
			_, bounded := yamlnode.Check(content(t, test.text), yamlnode.MaxAliased, func(line int, format string, args ...any) {
				got = append(got, fmt.Sprintf("%d: ", line)+fmt.Sprintf(format, args...))
			})
			if !reflect.DeepEqual(got, test.want) || bounded != test.bounded {
				t.Errorf("Check() = %v with %q, want %v with %q", bounded, got, test.bounded, test.want)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestValidateReturnsTheFirstProblem(t *testing.T) {
	for text, want := range map[string]string{
		"{a: b}": "<nil>", "a: 1\nb: &b [*b, {c: 1, c: 2}]\na: 2\n": `line 2: it has an alias that refers to itself: "*b"`,
		"a: 1\na: 2\na: 3\n":                      `line 2: it has the key "a" twice, first in line 1`,
		"[" + strings.Repeat("a,", 199_999) + "]": "<nil>", "[" + strings.Repeat("b,", 200_000) + "]": "it has more than 200000 nodes",
		"- &a [" + strings.Repeat("a,", 80_000) + "]\n- *a\n- [" + strings.Repeat("a,", 40_000) + "]\n": "it has more than 200000 nodes",
	} {
		if err := yamlnode.Validate(content(t, text)); fmt.Sprint(err) != want {
			t.Errorf("Validate() of %.80q = %v, want %s", text, err, want)
		}
	}
}

func TestValidateLastWins(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\na: 2\n": "<nil>", "a: 1\na: {b: &b [*b]}\n": `line 2: it has an alias that refers to itself: "*b"`, "a: 1\na: 2\n~: 3\n": "line 3: it has a key that is not a string",
	} {
		if err := yamlnode.ValidateLastWins(content(t, text)); fmt.Sprint(err) != want {
			t.Errorf("ValidateLastWins() of %q = %v, want %s", text, err, want)
		}
	}
}

func TestFirstReadsNoMoreThanTheFirst(t *testing.T) {
	for text, want := range map[string]string{"---\n---\na\n---\n[": "a", "# none\n": ""} {
		root, err := yamlnode.First([]byte(text))
		if err != nil || want != "" && root.Value != want || want == "" && root != nil {
			t.Errorf("First() of %q = %v, %v", text, root, err)
		}
	}
	if _, err := yamlnode.First([]byte("[")); err == nil {
		t.Error("First() of what is no YAML has no error")
	}
}

func TestCheckReturnsTheExtent(t *testing.T) {
	got, ok := yamlnode.Check(content(t, "a: &a [xyz, x]\nb: *a\n"), 3, func(_ int, format string, args ...any) { t.Errorf(format, args...) })
	if !ok || got.Nodes != 9 || got.Aliased != 3 || got.Bytes != 10 {
		t.Errorf("Check() = %+v, %v", got, ok)
	}
}

func TestMergeKeys(t *testing.T) {
	const bases = "base: &a {x: a, y: a}\nother: &b {y: b, z: b}\nlist: &l [*a, *b]\nderived: &d {<<: *b, x: d}\nof: "
	for _, test := range []struct{ name, mapping, want string }{
		{"without any", "{y: 1, x: 2}", "y=1 x=2"},
		{"what is written wins", "{<<: *a, x: 1}", "x=1 y=a"},
		{"wherever it stands", "{x: 1, <<: *a}", "x=1 y=a"},
		{"the first of a list wins", "{<<: [*b, *a]}", "y=b z=b x=a"},
		{"an alias to a list", "{<<: *l, z: 1}", "z=1 x=a y=a"},
		{"merges of merges", "{<<: [*d, *a]}", "x=d y=b z=b"},
		{"a mapping that stands there", "{<<: {<<: *a, z: 1}, y: 2}", "y=2 z=1 x=a"},
		{"a quoted one is a key as any other", "{'<<': *a, x: 1}", "<<= x=1"},
		{"an alias as a value", "{x: *a}", "x="},
		{"numbers as JSON has them", "{0x10: 1, true: 2, 1.50: 3, 2001-01-01: 4}", "16=1 true=2 1.5=3 2001-01-01=4"},
		{"keys that JSON cannot have", "{[a]: 1, ~: 2, x: 3}", "x=3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			mapping := yamlnode.Lookup(content(t, bases+test.mapping+"\n"), "of")
			var got []string
			for _, entry := range yamlnode.Entries(mapping) {
				got = append(got, entry.Name+"="+entry.Value.Value)
				if found, ok := yamlnode.Find(mapping, entry.Name); !ok || found != entry {
					t.Errorf("Find(%q) = %v, %v, want %v", entry.Name, found, ok, entry)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("Entries() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestLookupOfWhatIsNotThere(t *testing.T) {
	for _, text := range []string{"a", "[x]", "{a: x}", "{<<: {a: b}}", "{<<: a}", "{<<: [a]}", "{[x]: a}"} {
		if found := yamlnode.Lookup(content(t, text), "x"); found != nil {
			t.Errorf("Lookup() in %s = %v", text, found)
		}
	}
	if yamlnode.Lookup(nil, "x") != nil || yamlnode.Entries(nil) != nil {
		t.Error("there is something in no mapping")
	}
}

func TestWrittenReadsAMappingThatMergesItself(t *testing.T) {
	node := content(t, "&a\n<<: *a\nb: &c d\ne: *c\n")
	for name, want := range map[string]string{"b": "d", "e": "d", "f": ""} {
		if got, _ := yamlnode.Text(yamlnode.Written(node, name)); got != want {
			t.Errorf("Written(%s) = %q, want %q", name, got, want)
		}
	}
	if yamlnode.Written(nil, "b") != nil || yamlnode.Written(content(t, "[b]"), "b") != nil {
		t.Error("there is something in no mapping")
	}
}

func TestPlain(t *testing.T) {
	text := "a: &a {s: yes, i: 0x10, f: 1.5, b: true, n: ~, t: 2001-01-01}\nl: [*a, {<<: *a, i: 18446744073709551615}]\n"
	a := map[string]any{"s": "yes", "i": int64(16), "f": 1.5, "b": true, "n": nil, "t": "2001-01-01"}
	merged := map[string]any{"s": "yes", "i": float64(18446744073709551615), "f": 1.5, "b": true, "n": nil, "t": "2001-01-01"}
	want := map[string]any{"a": a, "l": []any{a, merged}}
	if got, err := yamlnode.Plain(content(t, text)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Plain() = %v, %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"[.nan]":        `".nan" is not a finite number`,
		"{a: !!int x}":  `"x" is not a number`,
		"{a: !x y}":     `the tag "!x" has no meaning here`,
		"!!binary aGk=": `the tag "!!binary" has no meaning here`,
	} {
		if got, err := yamlnode.Plain(content(t, text)); err == nil || err.Error() != want {
			t.Errorf("Plain() of %s = %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"{}": "a mapping", "[]": "a list", "a": "a string", "1": "a number", "1.5": "a number", "true": "a boolean", "~": "null",
		"2001-01-01": "a timestamp", "!x y": `a value with the tag "!x"`,
	} {
		if got := yamlnode.Describe(content(t, text)); got != want {
			t.Errorf("Describe() of %s = %s, want %s", text, got, want)
		}
	}
}
