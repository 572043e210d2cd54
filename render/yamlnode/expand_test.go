// SPDX-License-Identifier: Apache-2.0

package yamlnode_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

func encoded(t testing.TB, node *yaml.Node) string {
	t.Helper()
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExpand(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an alias", "a: &a\n  x: 1\nb: *a\nc: [*a]\n", "a:\n  x: 1\nb:\n  x: 1\nc: [{x: 1}]\n"},
		{"an alias as a key", "a: &a b\n*a : c\n", "a: b\nb: c\n"},
		{"a text of several lines within brackets", "a: &a |\n  x\n  y\nb: [*a]\n", "a: |\n  x\n  y\nb: [\"x\\ny\\n\"]\n"},
		{"a merge key in its place", "a: &a {x: 1, y: 2}\nb:\n  z: 3\n  <<: *a\n  x: 4\n", "a: {x: 1, y: 2}\nb:\n  z: 3\n  y: 2\n  x: 4\n"},
		{"merges, of which the first wins", "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: [*b, {x: 3, z: 4}]}\n", "a: {x: 1}\nb: {x: 1, y: 2}\nc: {x: 1, y: 2, z: 4}\n"},
		{"a quoted merge key stays", "a: &a {x: 1}\nb: {'<<': *a}\n", "a: {x: 1}\nb: {'<<': {x: 1}}\n"},
		{"an anchor that is defined again", "a: &a 1\nb: *a\nc: &a 2\nd: *a\n", "a: 1\nb: 1\nc: 2\nd: 2\n"},
		{"comments are not repeated", "a: &a # on a\n  # on x\n  x: 1 # one\nb: *a\n", "a:\n  # on x\n  # on a\n  x: 1 # one\nb:\n  x: 1\n"},
		{"the comment beside an alias stands above", "a: &a\n  x: 1\n# above\nb: *a # beside\nc:\n- *a # in a list\n", "a:\n  x: 1\n# above\n# beside\nb:\n  x: 1\nc:\n  # in a list\n  - x: 1\n"},
		{"those of a merge key too", "a: &a\n  x: 1\nb:\n  # above\n  <<: *a # beside\n  y: 2\n", "a:\n  x: 1\nb:\n  # above\n  # beside\n  x: 1\n  y: 2\n"},
		{"or below, when it adds nothing", "a: &a {x: 1}\nb:\n  x: 2\n  # above\n  <<: *a\n", "a: {x: 1}\nb:\n  x: 2\n  # above\n"},
		{"comments within brackets", "a: &a\n  x: 1\nb: {\n  y: *a, # one\n  # two\n  <<: *a # three\n}\n", "a:\n  x: 1\n# one\n# two\n# three\nb: {y: {x: 1}, x: 1}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := content(t, test.text)
			if yamlnode.IsExpanded(before) {
				t.Error("IsExpanded() = true")
			}
			expanded := yamlnode.Expand(before)
			if got := encoded(t, expanded); got != test.want || !yamlnode.IsExpanded(expanded) {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestCostOfExpand(t *testing.T) {
	start := time.Now()
	for name, text := range map[string]string{
		"comments beside aliases": "a: &a [x]\nb: [" + strings.Repeat("*a, # comment\n  ", 45_000) + "]\n",
		"comments of merges":      "a: &a {x: y}\nb:\n  <<:\n" + strings.Repeat("  - *a # comment\n", 30_000),
		"an alias to a comment":   "a: &a\n- x # " + strings.Repeat("y", 1<<19) + "\nb: [" + strings.Repeat("*a,", 45_000) + "]\n",
	} {
		node := content(t, text)
		if err := yamlnode.Validate(node); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if size := len(encoded(t, yamlnode.Expand(node))); size > 2*len(text) {
			t.Errorf("%s: %d bytes become %d", name, len(text), size)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestIsExpanded(t *testing.T) {
	for text, want := range map[string]bool{"a: &a {b: [c]}": true, "{'<<': {}}": true, "a: <<": true, "a: {<<: {}}": false, "[&a b, *a]": false} {
		if got := yamlnode.IsExpanded(content(t, text)); got != want {
			t.Errorf("IsExpanded() of %s = %v", text, got)
		}
	}
}

// FuzzExpand compares the values of documents with those of their expansion.
func FuzzExpand(f *testing.F) {
	for _, text := range []string{
		"a: &a [x]\nb: &b {a: *a, c: ~}\nc: {<<: [*b, {d: 1}], a: 2}\n", "a: &a # c\n  b: |\n    d\n# e\nf: [*a, # g\n *a]\n", laughs(3, "[%s]"), laughs(2, "{<<: [%s]}"),
		"a: &a {'<<': b}\nc: {<<: *a}\n", "? &a b\n: c\nd: {*a : e}\n", "- &a\n- *a # b\n- {<<: {} # c\n }\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for document, err := range yamlnode.Documents([]byte(text)) {
			if err != nil {
				return
			}
			sound := true
			_, bounded := yamlnode.Check(document.Content[0], yamlnode.MaxAliased, func(int, string, ...any) { sound = false })
			if !bounded || !sound {
				return
			}
			want, err := yamlnode.Plain(document.Content[0])
			if err != nil {
				return
			}
			expanded := yamlnode.Expand(document)
			if got, err := yamlnode.Plain(expanded.Content[0]); err != nil || !reflect.DeepEqual(got, want) || !yamlnode.IsExpanded(expanded) {
				t.Fatalf("got %v, %v, want %v of:\n%s", got, err, want, text)
			}
		}
	})
}
