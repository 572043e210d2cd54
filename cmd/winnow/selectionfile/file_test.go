// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config/crd"
	"github.com/winnow-dev/winnow/render"
)

const head = "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n"

func one(name string) string {
	return head + "metadata: {name: " + name + "}\nspec: {sources: [{name: catalog}]}\n"
}

// item is a CatalogSelection in a list.
func item(name string) string {
	return "- " + strings.ReplaceAll(strings.TrimSpace(one(name)[:len(one(name))-len("spec: {sources: [{name: catalog}]}\n")]), "\n", "\n  ") +
		"\n  spec:\n    sources: [{name: catalog}]\n"
}

func TestParse(t *testing.T) {
	tests := []struct {
		name    string
		content string
		want    []string // names
		invalid []string // lines
	}{
		{name: "nothing"},
		{name: "a comment only", content: "# nothing\n---\n"},
		{name: "one", content: one("a"), want: []string{"a"}},
		{name: "several beside others", want: []string{"a", "b"},
			content: "kind: Namespace\n---\n" + one("a") + "--- # a comment\n# another one\n---\n" + one("b")},
		{name: "Windows line ends", want: []string{"a", "b"}, content: strings.ReplaceAll(one("a")+"---\n"+one("b"), "\n", "\r\n")},
		{name: "in lists", want: []string{"a", "b", "c"},
			content: one("a") + "---\napiVersion: v1\nkind: List\nitems:\n- kind: Namespace\n" + item("b") +
				"- apiVersion: v1\n  kind: List\n  items:\n  - {" + strings.ReplaceAll(strings.TrimSpace(head), "\n", ", ") +
				", metadata: {name: c}, spec: {sources: [{name: catalog}]}}\n"},
		{name: "a list of its own kind", want: []string{"a"},
			content: "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelectionList\nitems:\n" + item("a")},
		{name: "what is wrong with an item of a list", content: "# a comment\n---\napiVersion: v1\nkind: List\nitems:\n" + item("a") + item("b") + "    limits: {}\n",
			invalid: []string{"f.yaml:16: spec.limits: unknown field: the CustomResourceDefinition does not have it; did you mean limit?"}},
		{name: "a field of an instance", content: strings.TrimSuffix(one("a"), "}\n") + ",\n  instances: {x: {\n    dependson: [y]}, y: {}}}\n",
			invalid: []string{"f.yaml:6: spec.instances.x.dependson: unknown field: the CustomResourceDefinition does not have it; did you mean dependsOn?"}},
		{name: "lists of others", content: "apiVersion: v1\nkind: List\nitems: [{kind: Namespace}, 3, {kind: List, items: x}]\nitems: []\n"},
		{name: "the kind of another group", content: "apiVersion: example.com/v1\nkind: CatalogSelection\nspec: 3\n"},
		{name: "another version", content: "apiVersion: catalog.winnow.dev/v1\nkind: CatalogSelection\n",
			invalid: []string{"f.yaml:1: apiVersion: catalog.winnow.dev/v1 is not known: use catalog.winnow.dev/v1alpha1"}},
		{name: "no YAML in the second document", content: one("a") + "---\na: [\n",
			invalid: []string{"f.yaml:6: reading YAML: did not find expected node content"}},
		{name: "no mapping", content: "- a\n",
			invalid: []string{"f.yaml:1: reading YAML: the document is no mapping"}},
		{name: "a line that ends no document", content: one("a") + "--- b\n", invalid: []string{"f.yaml: invalid Yaml document separator: b"}},
		{name: "a key twice", content: "# a comment\n---\n" + head + "metadata: {name: a}\nspec:\n  suspend: true\n  suspend: true\n",
			invalid: []string{`f.yaml:8: reading YAML: the document has the key "suspend" twice, first in line 7`}},
		{
			name: "all that is wrong with all of them, by line",
			content: head + "metadata: {name: a}\nspec:\n  sources:\n  - name: catalog\n    kind: Repository\n  exclude:\n  - falco\n  - falco\n" +
				"---\n# b\n" + head + "metadata:\n  name: b\nspec:\n  limits: {}\n  sources: [{name: catalog}]\n  versions:\n  - constraint: '>>1'\n",
			invalid: []string{
				`f.yaml:7: spec.sources[0].kind: Unsupported value: "Repository": supported values: "OCIRepository", "GitRepository", "Bucket", "ExternalArtifact"`,
				`f.yaml:10: spec.exclude[1]: Duplicate value: "falco"`,
				`f.yaml:18: spec.limits: unknown field: the CustomResourceDefinition does not have it; did you mean limit?`,
				`f.yaml:21: spec.versions[0]: Invalid value: ">>1": the constraint ">>1" is no range of versions, such as ">=1.0.0 <2.0.0" or "~1.4"`,
			},
		},
		{
			name:    "once what the server and the controller refuse in a member of a map",
			content: head + "metadata: {name: a}\nspec:\n  sources: [{name: catalog}]\n  instances:\n    a1: {backend: helm}\n",
			invalid: []string{
				`f.yaml:7: spec.instances.a1.backend: Unsupported value: "helm": supported values: "Helm", "ApplicationInstallation", "Application", "Terraform", "ClusterExtension", "Subscription"`,
			},
		},
		{
			name:    "the line of the field around one that is missing, and of keys with dots",
			content: head + "metadata:\n  name: a\nspec:\n  sources:\n  - kind: Bucket\n  commonMetadata:\n    labels:\n      a.b/c: 'd e'\n",
			invalid: []string{
				"f.yaml:7: spec.sources[0].name: Required value",
				"f.yaml:9: spec.commonMetadata.labels: Invalid value: \"d e\": a valid label must be",
			},
		},
		{
			name:    "a wrong type, which the rest waits for",
			content: head + "metadata: {name: a}\nspec:\n  suspend: often\n  sources: [{name: a, path: ..}]\n",
			invalid: []string{`f.yaml:5: spec.suspend: Invalid value: "string": must be of type boolean: "string"`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, err := Parse(t.Context(), "f.yaml", []byte(test.content))
			var names []string
			for _, cs := range found {
				names = append(names, cs.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("found %q, want %q", names, test.want)
			}
			if got := linesOf(t, err); !slices.EqualFunc(got, test.invalid, strings.HasPrefix) {
				t.Errorf("invalid:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.invalid, "\n"))
			}
		})
	}
}

func linesOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var finding *render.Error
	var invalid *InvalidError
	if !errors.As(err, &finding) || finding.Reason() != v1alpha1.InvalidSpecReason || !errors.As(err, &invalid) {
		t.Fatalf("unexpected error: %v", err)
	}
	return invalid.Lines()
}

// defaulted is the object that controllers' TestDefaultsAreFilledIn reads from a real API server.
const defaulted = `apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata:
  name: a
spec:
  cluster:
    bypass: Honor
    serve: Compared
    unmanaged: Ignore
  interval: 10m0s
  provenance: Artifact
  safeguards:
    onIdentityChange: Hold
    onInstanceUpgrade: HoldMajor
    onMajorUpgrade: Publish
    onRemoval: Hold
    onSourceChange: Publish
    onVersionRemoval: Hold
  sources:
  - format: Auto
    kind: OCIRepository
    name: catalog
`

func TestDefaultsAreThoseOfTheAPIServer(t *testing.T) {
	found, err := Parse(t.Context(), "f.yaml", []byte(one("a")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(found[0].CatalogSelection)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != defaulted {
		t.Errorf("got\n%s", got)
	}
}

func TestPlaces(t *testing.T) {
	found, err := Parse(t.Context(), "f.yaml", []byte(one("a")+"---\n"+head+`metadata:
  name: b
spec:
  sources:
  - name: catalog
  limit:
    nameSelector: &names
    - argocd
    - falco
    metadataSelector:
      matchLabels:
        a: v
        a.b: w
  versions:
  - names: *names
    latest: 1
`))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"":                           "f.yaml:6",
		"spec":                       "f.yaml:10",
		"spec.limit.nameSelector[1]": "f.yaml:16",
		"spec.limit.nameSelector[2]": "f.yaml:14",
		"spec.limit.catalogRefs":     "f.yaml:13",
		"spec.versions[0].names[0]":  "f.yaml:15",
		"spec.limit.metadataSelector.matchLabels[a.b]": "f.yaml:20",
		"spec.limit.metadataSelector.matchLabels.a.b":  "f.yaml:20",
		"spec.limit.metadataSelector.matchLabels[a]":   "f.yaml:19",
		"spec.limit.metadataSelector.matchLabels[b]":   "f.yaml:18",
	} {
		if got := found[1].Place(field); got != want {
			t.Errorf("%q is at %s, want %s", field, got, want)
		}
	}
}

func TestNamesAreThoseOfInvalidOnesToo(t *testing.T) {
	content := one("a") + "---\na: [\n---\n" + head + "metadata: {name: b}\nspec: {x: 1}\n---\nkind: Other\nmetadata: {name: c}\n"
	if got := Names(t.Context(), []byte(content)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("names %q", got)
	}
}

// A document may be an edit of a live object. A rule of ours that compares the two is not evaluated: this package knows
// one of them.
func TestOnlyTheRuleOfDefinitionsComparesWithTheFormerObject(t *testing.T) {
	files, err := fs.Glob(crd.Files(), "bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		content, err := fs.ReadFile(crd.Files(), file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "oldSelf") && !strings.Contains(line, "oldSelf.definitions") {
				t.Errorf("%s has a rule with oldSelf: %s", file, line)
			}
		}
	}
}

// The search for lines does not expand aliases, and decoding bounds them.
func TestBombsAreRefused(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		alias := "*" + string(c-1) + ","
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat(alias, 8) + alias[:2] + "]\n"
	}
	if _, err := Parse(t.Context(), "f.yaml", []byte(head+bomb)); linesOf(t, err) == nil {
		t.Error("it is accepted")
	}
	deep := head + "metadata: {name: a}\nspec:\n  sources: [{name: a}]\n  values: [{names: [a], defaults: {a: " +
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}}]\n"
	_, err := Parse(t.Context(), "f.yaml", []byte(deep))
	want := []string{"f.yaml:6: spec.values[0].defaults: Invalid value: is nested deeper than 100 levels"}
	if got := linesOf(t, err); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A key may begin as the separator of a message does.
func TestAViolationNamesTheWholeField(t *testing.T) {
	for want, v := range map[string]Violation{": x: unknown": {Field: ": x", Message: "unknown"}, "unknown": {Message: "unknown"}} {
		if got := v.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a commit applies is one line of JSON: no lines put the violations into an order.
func TestViolationsOfALineHaveOneOrder(t *testing.T) {
	const want = `spec.interval: Invalid value: "array": must be of type string: "array"; spec.safeguards.approve: Invalid value: "null": must be of type array: "null"`
	for range 50 {
		_, err := ParseDocument(t.Context(), []byte(`{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection", "metadata": {"name": "a"},`+
			`"spec": {"sources": [{"name": "a"}], "safeguards": {"approve": null}, "interval": [1]}}`))
		if err == nil || err.Error() != want {
			t.Fatalf("got %v", err)
		}
	}
}

// A hostile file costs little time, and its report is short.
func TestCostOfManyViolations(t *testing.T) {
	var fields, documents strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&fields, "  field%d: 1\n", i)
	}
	for range 1000 {
		documents.WriteString(one("A") + "---\n")
	}
	start := time.Now()
	for name, c := range map[string]struct {
		content       string
		kept, omitted int
	}{
		"unknown fields":    {one("a")[:len(one("a"))-len("{sources: [{name: catalog}]}\n")] + "\n  sources: [{name: catalog}]\n" + fields.String(), maxViolations, 20_000 - maxViolations},
		"invalid documents": {documents.String(), maxViolations, 0},
	} {
		_, err := Parse(t.Context(), "f.yaml", []byte(c.content))
		var invalid *InvalidError
		if !errors.As(err, &invalid) || len(invalid.Violations) != c.kept || invalid.Omitted != c.omitted {
			t.Errorf("%s: %d violations and %d more: %.200s", name, len(invalid.Violations), invalid.Omitted, err)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse(ctx, "f.yaml", []byte(documents.String())); !errors.Is(err, context.Canceled) {
		t.Errorf("a read that is cancelled ends with %v", err)
	}
}
