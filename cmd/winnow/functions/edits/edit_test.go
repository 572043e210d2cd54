// SPDX-License-Identifier: Apache-2.0

package edits

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	runtimeText = "container:\n  image: a:v1\n"
	head        = "apiVersion: example.com/v1\nkind: A\n"
)

// Each case marks with <+ and +> what is inserted.
func TestAnnotateInsertsIntoTheStyleOfTheFile(t *testing.T) {
	block := func(indent string) string {
		return indent + "config.kubernetes.io/function: |\n" + indent + "  container:\n" + indent + "    image: a:v1\n"
	}
	for name, marked := range map[string]string{
		"no metadata":                head + "<+metadata:\n  annotations:\n" + block("    ") + "+>spec: {} # none\n",
		"no metadata, and no end":    "kind: A\nspec: {}\napiVersion: example.com/v1<+\nmetadata:\n  annotations:\n" + block("    ") + "+>",
		"no annotations":             head + "metadata: # of it\n  # the name\n<+  annotations:\n" + block("    ") + "+>  name: a # ours\nspec: {}\n",
		"deep indentation":           head + "metadata:\n<+    annotations:\n" + block("      ") + "+>    labels: {a: b}\n    name: a\n",
		"other annotations":          head + "metadata:\n  name: a\n  annotations:\n    # why\n<+" + block("    ") + "+>    b: c\nspec: {}\n",
		"annotations above the name": head + "metadata:\n  annotations:\n<+" + block("    ") + "+>    b: c\n  name: a\n",
		"a text of several lines":    "# top\n" + head + "spec:\n  text: |\n    kind: B\n\n    metadata:\nmetadata:\n<+  annotations:\n" + block("    ") + "+>  name: a\n",
		"an anchor elsewhere":        head + "spec: {a: &x 1, b: *x}\nmetadata:\n<+  annotations:\n" + block("    ") + "+>  name: a\n",
	} {
		for _, newline := range []string{"\n", "\r\n"} {
			marked := strings.ReplaceAll(marked, "\n", newline)
			before, rest, _ := strings.Cut(marked, "<+")
			added, after, _ := strings.Cut(rest, "+>")
			got, err := Annotate([]byte(before+after), runtimeText, "", "")
			if err != nil || string(got) != before+added+after {
				t.Errorf("%s, %q: %v\n got %q\nwant %q", name, newline, err, got, before+added+after)
			}
		}
	}
}

func TestAnnotateLeavesJSONWhatItIs(t *testing.T) {
	got, err := Annotate([]byte("{\n  \"apiVersion\": \"example.com/v1\", \"kind\": \"A\",\n  \"spec\": {\"a\": [1, true, \"\\u00e9\\n\"]}\n}\n"), runtimeText, "0a", "a")
	if err != nil || !json.Valid(got) || !strings.Contains(string(got), `"config.kubernetes.io/function": "container:\n  image: a:v1\n"`) {
		t.Errorf("%v\n%s", err, got)
	}
}

// A new runtime replaces the lines of the old one.
func TestAnnotateReplacesItsLines(t *testing.T) {
	const digest = "0a0a0a0a"
	old := "    config.kubernetes.io/function: |\n      container:\n        image: old\n\n    catalog.winnow.dev/function-digest: sha256:1b\n"
	for name, text := range map[string]string{
		"alone":             head + "metadata:\n  annotations:\n" + old + "  name: a # ours\nspec: {}\n",
		"among others":      head + "metadata:\n  annotations:\n" + old + "    b: c # why\n  name: a # ours\nspec: {}\n",
		"the digest alone":  head + "metadata:\n  annotations:\n    catalog.winnow.dev/function-digest: sha256:1b\n  name: a # ours\nspec: {}\n",
		"at the end of all": head + "spec: {}\nmetadata:\n  name: a # ours\n  annotations:\n    b: c # why\n" + old,
	} {
		got, err := Annotate([]byte(text), runtimeText, digest, "")
		added := "    config.kubernetes.io/function: |\n      container:\n        image: a:v1\n    catalog.winnow.dev/function-digest: sha256:" + digest + "\n"
		if err != nil || strings.Count(string(got), added) != 1 || strings.Contains(string(got), "old") || strings.Contains(string(got), "sha256:1b") ||
			!strings.Contains(string(got), "  name: a # ours\n") || strings.Contains(text, "# why") != strings.Contains(string(got), "    b: c # why\n") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// What is not written in the style of people is written anew, with the same content.
func TestAnnotateWritesOtherStylesAnew(t *testing.T) {
	for name, text := range map[string]string{
		"JSON":                    `{"apiVersion": "example.com/v1", "kind": "A", "metadata": {"name": "a"}}`,
		"metadata in braces":      head + "metadata: {name: a} # c\n",
		"annotations in braces":   head + "metadata:\n  name: a\n  annotations: {b: c}\n",
		"null annotations":        head + "metadata:\n  name: a\n  annotations:\n",
		"null metadata":           head + "metadata:\n",
		"an empty annotation":     head + "metadata:\n  annotations:\n    config.kubernetes.io/function: \"\"\n    b: c\n",
		"an alias":                head + "a: &m {name: a}\nmetadata: *m\n",
		"a merge key":             head + "a: &m {name: a, annotations: {b: c}}\nmetadata:\n  <<: *m\n",
		"the value below its key": "apiVersion: example.com/v1\nkind:\n  A\nmetadata: {name: a}\n",
	} {
		got, err := Annotate([]byte(text), runtimeText, "", "other")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		root, err := configs.Parse(got)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
			continue
		}
		metadata := yamlnode.Lookup(root, "metadata")
		written, _ := yamlnode.Text(yamlnode.Lookup(yamlnode.Lookup(metadata, "annotations"), configs.FunctionKey))
		given, _ := yamlnode.Text(yamlnode.Lookup(metadata, "name"))
		if written != runtimeText || given != "other" {
			t.Errorf("%s:\n%s", name, got)
		}
		if strings.Contains(text, "b: c") && !strings.Contains(string(got), "b: c") {
			t.Errorf("%s: an annotation is lost:\n%s", name, got)
		}
	}
}

// Each case marks with <- and -> what is left out.
func TestWithoutFieldLeavesTheRestAsItIs(t *testing.T) {
	for name, marked := range map[string]string{
		"a list":                 "# a\nresources: [a]\n<-catalogs:\n  - b # c\n\n  # d\n  - c\n->\n# e\ntransformers: [a]\n",
		"a list without indent":  "<-catalogs:\n- a\n- b\n->resources:\n- a\n",
		"at the end":             "resources:\n- a\n<-catalogs: # c\n- a->",
		"in brackets":            "<-catalogs: [a,\n  b]\n->resources: [a]\n",
		"nothing in it":          "<-catalogs:\n->resources: [a]\n",
		"a text with its name":   "<-catalogs: [a]\n->patches:\n- patch: |\n    catalogs: [a]\n",
		"characters before it":   "a: ä é 日本\n<-catalogs: [a]\n->",
		"with the end of a file": "a: b\n<-catalogs: [a]\n->...\n",
		"comments in the list":   "# a\n<-catalogs: # b\n# c\n- d\n\n# e\n-\n  f\n->\n# g\nresources: [a]\n",
		"line ends of Windows":   "resources: [a]\r\n<-catalogs:\r\n# c\r\n- d\r\n-># e\r\n",
	} {
		before, rest, _ := strings.Cut(marked, "<-")
		removed, after, _ := strings.Cut(rest, "->")
		got, err := WithoutField([]byte(before+removed+after), "catalogs")
		if err != nil || string(got) != before+after {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, before+after)
		}
	}
	// The last one has line breaks that only YAML takes for some.
	for _, text := range []string{"{resources: [a], catalogs: [b]}", "a: &x {catalogs: [b]}\n<<: *x\nresources: [a]\n", "resources: [a]\rcatalogs: [b]\r"} {
		got, err := WithoutField([]byte(text), "catalogs")
		if err != nil {
			t.Fatal(err)
		}
		root, err := configs.Parse(got)
		if err != nil || yamlnode.Lookup(root, "catalogs") != nil || yamlnode.Lookup(root, "resources") == nil {
			t.Errorf("of %q: %v %q", text, err, got)
		}
	}
}

func TestWithElementsKeepsTheIndentation(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a literal":             {"transformers:\n  - a\n  - |-\n    # c\n    a: b\n\n    c: d\n  # after\n  - e\n", "transformers:\n  - a\n  - |-\n    new: 1\n    text: |\n      x\n\n      y\n  # after\n  - e\n"},
		"a literal and another": {"transformers:\n- a\n- |\n  a: b\n- |\n  c: d\n", "transformers:\n- a\n- |\n  new: 1\n  text: |\n    x\n\n    y\n- |\n  c: d\n"},
		"a literal at an end":   {"transformers:\n- a\n- |\n  a: b", "transformers:\n- a\n- |\n  new: 1\n  text: |\n    x\n\n    y\n"},
	} {
		value := "new: 1\ntext: |\n  x\n\n  y"
		if !strings.Contains(test.text, "|-") {
			value += "\n"
		}
		got, err := WithElements([]byte(test.text), map[Element]string{{"transformers", 1}: value})
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, test.want)
		}
	}
	for _, text := range []string{"transformers: [a, '{b: c}']", "transformers:\n- a\n- |2\n    a: b\n", "transformers:\n- a\n- >-\n  a: b\n", "x: &x |\n  a: b\ntransformers: [a, *x]\n"} {
		got, err := WithElements([]byte(text), map[Element]string{{"transformers", 1}: "new: 1\n"})
		if err != nil {
			t.Errorf("of %q: %v", text, err)
			continue
		}
		root, err := configs.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		if value, _ := yamlnode.Text(yamlnode.Lookup(root, "transformers").Content[1]); value != "new: 1\n" {
			t.Errorf("of %q: %q", text, got)
		}
	}
}

// An edit has the content that it should have, or is an error.
func FuzzAnnotate(f *testing.F) {
	f.Add(head + "metadata:\n  name: a\n  annotations: {b: c}\n")
	f.Add(head + "a: &m {name: a}\nmetadata:\n  <<: *m\n")
	f.Add("? a\n: b\nkind: A\nmetadata:\n- a\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := configs.Parse([]byte(text)); err != nil {
			return
		}
		got, err := Annotate([]byte(text), runtimeText, "", "")
		if err != nil {
			return
		}
		root, err := configs.Parse(got)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		annotations := yamlnode.Lookup(yamlnode.Lookup(root, "metadata"), "annotations")
		if written, _ := yamlnode.Text(yamlnode.Lookup(annotations, configs.FunctionKey)); written != runtimeText {
			t.Errorf("%q", got)
		}
	})
}
