// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/tree"
)

// build builds an artifact as kustomize-controller does.
func build(artifact *tree.Tree) (resmap.ResMap, error) {
	disk := filesys.MakeFsInMemory()
	for _, path := range artifact.Paths() {
		content, _ := artifact.Content(path)
		if err := disk.WriteFile(path, content); err != nil {
			return nil, err
		}
	}
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, ".")
}

func fuzzed() *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "kkp", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"team": "on"}, Annotations: map[string]string{"a/b": "1: #"}}
	return cs
}

const object = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\n"

// FuzzRender: what loads also renders, with its bytes as they are, and once kustomize has built
// it, it is what was written, with our marks and nothing else.
func FuzzRender(f *testing.F) {
	for _, document := range []string{
		object + "metadata: {name: x}\nspec: {}\n",
		object + "metadata: {name: x, labels: {a: b}, annotations: {c: d}}\nspec: {versions: [{version: v1}]}\n",
		object + "metadata: {name: x, annotations: {c: \"\n  d\n  \"}}\nspec: {}\n",
		object + "metadata: &m {name: x, labels: &l {a: b}, annotations: *l}\nspec: {m: *m}\n",
		object + "metadata:\n  name: x\n  labels: ~\n  annotations: {<<: {c: d}}\nspec:\n  a: &s\n    e:\n  b: {<<: {f: 1}, c: [~, {}, !!null ~]}\n  d:\n    <<: [*s, {g: h}]\n",
		"---\n" + object + "metadata:\n  name: x # c\nspec:\n  a: ${B}\n...\n---\n",
		"\ufeff# a\r\n---\r\n" + object + "metadata: {name: x}\nspec: {}\n--- # b\n",
		object + "metadata: {name: x, namespace: y}\nspec: {b: '2026-01-02', c: 0x10, e: ~, f: 1_000, g: 0777, h: yes}\n",
		object + "metadata: {name: x, creationTimestamp: null, finalizers: [a/b]}\nspec: {a: 1e3, b: -0.0, c: 18446744073709551615, d: 1e400, e: 2026-01-02T03:04:05Z}\n",
		object + "metadata: {name: x}\nspec:\n  a: |+2\n     b\n   \n\n  c: >-\n    d\n\n    e # f\n  \"g h\": 'i''\n\n    j'\n  ? k\n  : \"\\0\\t\\x1b\\L\\U0001f600\\\n    l\"\n",
		object + "metadata: {name: x}\nspec: # a\n# b\n  l:\n  - &c !!str 5 # d\n\n  # e\n  - *c\n",
	} {
		f.Add([]byte(document), []byte("tier: gold\nlabels: {a: b}\n"))
	}
	f.Fuzz(checkBuild)
}

// FuzzText: the same for any text in every style that YAML has, with comments around it.
func FuzzText(f *testing.F) {
	shapes := []string{ // with the text in lines, and in quotes
		"  a: |2+\n%[1]s\n# b\n",
		"  a: |2-\n%[1]s\n  ? b # c\n  : d\n",
		"  a: >2\n%[1]s\n  # b\n\n  c: d\n",
		"  a: x\n%[1]s\n  c: d # e\n",
		"  a: # b\n  - |2+ # c\n%[1]s\n  - # d\n  - %[2]s # e\n",
		"  a: &a # b\n  - >2+\n%[1]s\n  d: [*a, %[2]s, # e\n    f]\n",
		"  ? %[2]s # a\n  : {b: %[2]s, # c\n    d: e}\n# f\n",
	}
	for i := range shapes {
		for _, text := range []string{"a", "a\n", "a\n\n", " a\n", "a\n b", "\ta\n", "# a", "---", "a: b\n", "\u2028a", "\x7f", strings.Repeat("\x00", 180), strings.Repeat("\x00", 300), ""} {
			f.Add(text, i)
		}
	}
	f.Fuzz(func(t *testing.T, text string, shape int) {
		quoted, err := json.Marshal(text) // is YAML, too
		if err != nil || shape < 0 || shape >= len(shapes) {
			return
		}
		lines := "    " + strings.ReplaceAll(text, "\n", "\n    ")
		document := object + "metadata:\n  name: x\n  annotations: {c: " + string(quoted) + "}\nspec:\n" + fmt.Sprintf(shapes[shape], lines, quoted)
		checkBuild(t, []byte(document), nil)
	})
}

// checkBuild renders an application and compares what kustomize builds from it.
func checkBuild(t *testing.T, document, metadata []byte) {
	files := fstest.MapFS{"applications/x/application.yaml": {Data: bytes.Clone(document)}}
	if metadata != nil {
		files["applications/x/metadata.yaml"] = &fstest.MapFile{Data: metadata}
	}
	result, err := renderFS(context.Background(), files, fuzzed())
	if err != nil {
		if reasonOf(err) == "" {
			t.Fatalf("content in memory gives the transient error %v", err)
		}
		return
	}
	name := result.Selection.Applications()[0].Application.Name
	path := "applicationdefinitions/" + name + ".yaml"
	if want := slices.Sorted(slices.Values([]string{path, "applicationdefinitions/kustomization.yaml", "kustomization.yaml"})); !slices.Equal(result.Tree.Paths(), slices.Compact(want)) {
		t.Fatalf("files are %v, want %v", result.Tree.Paths(), want)
	}
	if content, _ := result.Tree.Content(path); !bytes.Equal(content, document) {
		t.Fatalf("the document is %q, want %q", content, document)
	}
	if err := builtAs(document, result.Tree); err != nil {
		t.Fatal(err)
	}
}

// builtAs explains why kustomize does not build what the document says, with our marks.
func builtAs(document []byte, artifact *tree.Tree) error {
	want, err := written(document)
	if err != nil {
		return fmt.Errorf("the catalog accepts what cannot be read: %w", err)
	}
	mark(want, "labels", map[string]any{
		"app.kubernetes.io/managed-by": "winnow", "catalog.winnow.dev/name": "kkp", "catalog.winnow.dev/namespace": "flux-system",
		"team": "on",
	})
	mark(want, "annotations", map[string]any{
		"kustomize.toolkit.fluxcd.io/ssa": "Merge", "kustomize.toolkit.fluxcd.io/substitute": "disabled",
		"kustomize.toolkit.fluxcd.io/prune": "disabled", "a/b": "1: #",
	})
	built, err := build(artifact)
	if err != nil {
		return fmt.Errorf("kustomize refuses what the catalog accepts: %w", err)
	}
	if built.Size() != 1 {
		return fmt.Errorf("kustomize builds %d objects", built.Size())
	}
	printed, err := built.AsYaml()
	if err != nil {
		return fmt.Errorf("kustomize cannot print what it built: %w", err)
	}
	// kustomize-controller reads what it built in this way.
	one := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(printed, one); err != nil {
		return fmt.Errorf("nobody can read what kustomize printed: %w", err)
	}
	got, err := inJSON(one.Object)
	if err == nil && !reflect.DeepEqual(got, any(want)) {
		err = fmt.Errorf("kustomize builds\n%#v\nwant\n%#v", got, want)
	}
	return err
}

// written returns what the first document that is not empty says, as the YAML library decodes it
// without kustomize.
func written(document []byte) (map[string]any, error) {
	decoder := yamlv3.NewDecoder(bytes.NewReader(document))
	for {
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		plain, err := inJSON(object)
		if err != nil {
			return nil, err
		}
		return plain.(map[string]any), nil
	}
}

// inJSON returns a value as JSON has it: numbers are equal when they have the same value.
func inJSON(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	return numbers(decoded), nil
}

func numbers(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, member := range typed {
			typed[key] = numbers(member)
		}
	case []any:
		for i, element := range typed {
			typed[i] = numbers(element)
		}
	case json.Number:
		if whole, err := typed.Int64(); err == nil {
			return whole
		}
		float, _ := typed.Float64()
		return float
	}
	return value
}

func mark(object map[string]any, field string, marks map[string]any) {
	metadata := object["metadata"].(map[string]any)
	all := map[string]any{}
	if theirs, ok := metadata[field].(map[string]any); ok {
		maps.Copy(all, theirs)
	}
	maps.Copy(all, marks)
	metadata[field] = all
}
