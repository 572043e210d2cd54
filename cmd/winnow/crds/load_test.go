// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		kinds int
		want  string // part of the error
	}{
		{"a definition", map[string]string{"a.yaml": widgets}, 1, ""},
		{"a definition in a directory, beside other documents", map[string]string{
			"x/y/a.yml": "apiVersion: v1\nkind: ConfigMap\n---\n" + widgets + "---\nno: kind\n---\n# nothing\n",
		}, 1, ""},
		{"a list, as kubectl prints it", map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems:\n-" +
			indent(widgets)}, 1, ""},
		{"a definition of somebody else's kind", map[string]string{"a.yaml": "apiVersion: example.com/v1\nkind: CustomResourceDefinition"}, 0, ""},
		{"hidden and other files", map[string]string{".git/a.yaml": "{", ".a.yaml": "{", "README.md": "{", "a.json": "{"}, 0, ""},
		{"what is not YAML", map[string]string{"sub/a.yaml": "kind: X\n---\n{{ if }}"}, 0, "crds/sub/a.yaml: document 2: "},
		{"an old version", map[string]string{"a.yaml": "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition"}, 0,
			"crds/a.yaml: document 1: apiVersion apiextensions.k8s.io/v1beta1 of a CustomResourceDefinition is not known"},
		{"a kind that is defined twice", map[string]string{"a.yaml": widgets, "b.yaml": widgets}, 1,
			"crds/b.yaml: document 1: Widget.example.com is defined in crds/a.yaml too"},
		{"no kind", map[string]string{"a.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition"}, 0,
			"crds/a.yaml: document 1: a CustomResourceDefinition without spec.group and spec.names.kind"},
		{"no schema", map[string]string{"a.yaml": definitionOf("")}, 0, "crds/a.yaml: document 1: X.example.com, version v1: no schema"},
		{"a schema that is not structural", map[string]string{"a.yaml": definitionOf("properties: {a: {anyOf: [{type: string}]}}")}, 0,
			"crds/a.yaml: document 1: X.example.com, version v1: the schema is not structural"},
		{"a reference", map[string]string{"a.yaml": definitionOf("type: object, properties: {a: {$ref: '#/definitions/x'}}")}, 0,
			"crds/a.yaml: document 1: X.example.com, version v1: the schema is not structural"},
		{"a file that is too large", map[string]string{"a.yaml": strings.Repeat("#", maxFileBytes+1)}, 0, "crds/a.yaml: larger than 8388608 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := load(t, c.files)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
			if set.Len() != c.kinds {
				t.Errorf("%d kinds, want %d", set.Len(), c.kinds)
			}
		})
	}
}

func indent(text string) string {
	return " " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

func definitionOf(schema string) string {
	out := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: example.com\n" +
		"  names: {kind: X}\n  versions:\n  - name: v1\n    served: true\n"
	if schema != "" {
		out += "    schema: {openAPIV3Schema: {" + schema + "}}\n"
	}
	return out
}

func TestCostOfAllFiles(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		fsys[name+".yaml"] = &fstest.MapFile{Data: []byte(strings.Repeat("#", maxFileBytes))}
	}
	err := (&Set{}).Load(t.Context(), "crds", fsys)
	if err == nil || err.Error() != "crds/9.yaml: more than 67108864 bytes in all files" {
		t.Errorf("got %v", err)
	}
	set := &Set{files: maxFiles}
	if err := set.Load(t.Context(), "crds", fsys); err == nil || err.Error() != "crds/1.yaml: more than 10000 files" {
		t.Errorf("got %v", err)
	}
}

func TestLoadReadsNeitherDirectoriesNorWhatIsOutside(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"in", "in/a.yaml"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "out.yaml"), []byte(widgets), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"../out.yaml", "a.yaml", "missing"} {
		link := filepath.Join(dir, "in/link.yaml")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(filepath.Join(dir, "in"))
		if err != nil {
			t.Fatal(err)
		}
		set := &Set{}
		if err := set.Load(t.Context(), "in", root.FS()); err == nil || !strings.HasPrefix(err.Error(), "in/link.yaml: ") {
			t.Errorf("a link to %s: %v", target, err)
		}
		if err := errors.Join(root.Close(), os.Remove(link)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoadAndCheckEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set := &Set{}
	if err := set.Load(ctx, "crds", fstest.MapFS{"a.yaml": {Data: []byte(widgets)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := set.Check(ctx, []byte(head)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// An object without a definition must not look like a valid object.
func TestCheckTellsWhatItDoesNotKnow(t *testing.T) {
	set, err := load(t, map[string]string{"widgets.yaml": widgets})
	if err != nil {
		t.Fatal(err)
	}
	result, err := set.Check(t.Context(), []byte("---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"+head+"spec: {size: 1}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Unchecked["v1 ConfigMap"]; result.Checked != 1 || len(result.Unchecked) != 1 || !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("got %+v", result)
	}
	if _, err := set.Check(t.Context(), []byte("a: [")); err == nil || !strings.HasPrefix(err.Error(), "document 1: ") {
		t.Errorf("got %v", err)
	}
}

// Namespaced objects need a namespace. That of cluster-scoped objects is ignored.
func TestCheckTheScope(t *testing.T) {
	namespaced, err := load(t, map[string]string{"a.yaml": strings.Replace(widgets, "scope: Cluster", "scope: Namespaced", 1)})
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := load(t, map[string]string{"a.yaml": widgets})
	if err != nil {
		t.Fatal(err)
	}
	const object = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: space}\nspec: {size: 3}"
	for _, c := range []struct {
		name, stream string
		set          *Set
		want         []Finding
	}{
		{"a namespace that is needed", object, namespaced, nil},
		{"a namespace that is not", object, cluster, nil},
		{"a namespace that is missing", head + "spec: {size: 3}", namespaced, []Finding{
			{"Widget/a", "", "Invalid value: the rules of x-kubernetes-validations are not checked before the other errors are corrected"},
			{"Widget/a", "metadata.namespace", "Required value"},
		}},
	} {
		result, err := c.set.Check(t.Context(), []byte(c.stream))
		if err != nil || !slices.Equal(result.Findings, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.name, result.Findings, err, c.want)
		}
	}
}

func TestCheckSurvivesRulesThatDoNotCompile(t *testing.T) {
	set, err := load(t, map[string]string{"a.yaml": strings.Replace(widgets, "rule: self.size <= self.limit", "rule: self.none +", 1)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := set.Check(t.Context(), []byte(head+"spec: {size: 3}"))
	if err != nil || len(result.Findings) != 1 || !strings.Contains(result.Findings[0].Message, "rule compile error") {
		t.Errorf("got %v, %v", result.Findings, err)
	}
}
