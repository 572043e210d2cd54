package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

const head = "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n"

func TestParseSelections(t *testing.T) {
	tests := []struct {
		name    string
		content string
		want    string // names
		invalid string // part of the message
	}{
		{name: "nothing"},
		{name: "a comment only", content: "# nothing\n---\n"},
		{name: "one", content: head + "metadata: {name: a}\n", want: "a"},
		{name: "several beside others", want: "a b",
			content: "kind: Namespace\n---\n" + head + "metadata: {name: a}\n---\n# a comment\n---\n" + head + "metadata: {name: b}\n"},
		{name: "Windows line ends", want: "a b", content: strings.ReplaceAll(head+"metadata: {name: a}\n---\n"+head+"metadata: {name: b}\n", "\n", "\r\n")},
		{name: "the kind of another group", content: "apiVersion: example.com/v1\nkind: CatalogSelection\nspec: 3\n"},
		{name: "another version", content: "apiVersion: catalog.winnow.dev/v1\nkind: CatalogSelection\n", invalid: "use catalog.winnow.dev/v1alpha1"},
		{name: "an unknown field", content: head + "spec: {limits: {}}\n", invalid: `unknown field "spec.limits"`},
		{name: "a field in another case", content: head + "spec: {Prune: true}\n", invalid: `unknown field "spec.Prune"`},
		{name: "a key twice", content: head + "spec: {prune: true, prune: false}\n", invalid: `key "prune" already set`},
		{name: "a wrong type", content: head + "spec: {prune: often}\n", invalid: "cannot unmarshal"},
		{name: "a wrong duration", content: head + "spec: {interval: often}\n", invalid: "invalid duration"},
		{name: "no mapping", content: "- a\n", invalid: "document 1"},
		{name: "no YAML in the second document", content: head + "---\na: [\n", invalid: "document 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, err := parseSelections([]byte(test.content))
			var names []string
			for _, cs := range found {
				names = append(names, cs.Name)
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
			var finding *render.Error
			if got := errors.As(err, &finding); got != (test.invalid != "") || err != nil && !got {
				t.Fatalf("unexpected error: %v", err)
			}
			if test.invalid != "" && (finding.Reason != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), test.invalid)) {
				t.Errorf("reason %s, message %q, want %q in it", finding.Reason, err, test.invalid)
			}
		})
	}
}

func TestReadFileIsBounded(t *testing.T) {
	for _, test := range []struct {
		size int
		ok   bool
	}{{maxSelectionFile, true}, {maxSelectionFile + 1, false}} {
		content, err := readFile(t.Context(), "-", strings.NewReader(strings.Repeat("#", test.size)))
		if (err == nil) != test.ok || test.ok && len(content) != test.size {
			t.Errorf("of %d bytes were read %d: %v", test.size, len(content), err)
		}
	}
}
