package render_test

import (
	"bytes"
	"context"
	"fmt"
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

// FuzzRender: what loads also renders, with its bytes as they are, and is an object of that
// name and with our marks once kustomize has built it.
func FuzzRender(f *testing.F) {
	for _, document := range []string{
		object + "metadata: {name: x}\nspec: {}\n",
		object + "metadata: {name: x, labels: {a: b}, annotations: {c: d}}\nspec: {versions: [{version: v1}]}\n",
		object + "metadata: {name: x, annotations: {c: |\n  d\n}}\nspec: {}\n",
		object + "metadata: &m {name: x, labels: &l {a: b}, annotations: *l}\nspec: {m: *m}\n",
		"---\n" + object + "metadata:\n  name: x # c\nspec:\n  a: ${B}\n...\n---\n",
		object + "metadata: {name: x, namespace: y}\nspec: {a: !!binary aGk=, b: 2026-01-02, c: 0x10, e: ~, f: 1_000, g: 0777, h: yes}\n",
	} {
		f.Add([]byte(document), []byte("tier: gold\nlabels: {a: b}\n"))
	}
	f.Fuzz(func(t *testing.T, document, metadata []byte) {
		result, err := renderFS(context.Background(), fstest.MapFS{
			"applications/x/application.yaml": {Data: bytes.Clone(document)},
			"applications/x/metadata.yaml":    {Data: metadata},
		}, fuzzed())
		if err != nil {
			if reasonOf(err) == "" {
				t.Fatalf("content in memory gives the transient error %v", err)
			}
			return
		}
		name := result.Selection.Applications()[0].Application.Name
		path := "applicationdefinitions/" + name + ".yaml"
		if want := []string{path, "kustomization.yaml"}; !slices.Equal(result.Tree.Paths(), want) {
			t.Fatalf("files are %v, want %v", result.Tree.Paths(), want)
		}
		if content, _ := result.Tree.Content(path); !bytes.Equal(content, document) {
			t.Fatalf("the document is %q, want %q", content, document)
		}
		if !isTame(document) {
			return
		}
		if err := builtAs(name, result.Tree); err != nil {
			t.Fatal(err)
		}
	})
}

// isTame tells the documents that kustomize has to build from those with what it is known not
// to carry: directives, keys and tags beyond JSON, numbers that are none, characters that it
// writes raw, labels and annotations that are no strings, annotations that steer it.
func isTame(document []byte) bool {
	var root yamlv3.Node
	if bytes.Contains(document, []byte("%")) || yamlv3.Unmarshal(document, &root) != nil {
		return false
	}
	var metadata struct {
		Metadata struct{ Labels, Annotations map[string]any }
	}
	if root.Decode(&metadata) != nil {
		return false
	}
	for _, set := range []map[string]any{metadata.Metadata.Labels, metadata.Metadata.Annotations} {
		for key, value := range set {
			if _, ok := value.(string); !ok || strings.Contains(key, "config.") {
				return false
			}
		}
	}
	return isPlain(&root)
}

func isPlain(node *yamlv3.Node) bool {
	if node.Style&yamlv3.TaggedStyle != 0 || strings.ContainsFunc(node.Value, func(r rune) bool { return r >= 0x7f || r < ' ' && r != '\n' }) {
		return false
	}
	switch node.ShortTag() {
	case "!!str", "!!int", "!!bool", "!!null", "!!map", "!!seq", "!!merge", "":
	case "!!float":
		if strings.ContainsAny(node.Value, "naNA") {
			return false
		}
	default:
		return false
	}
	for i, child := range node.Content {
		isKey := node.Kind == yamlv3.MappingNode && i%2 == 0
		if isKey && child.ShortTag() != "!!str" && child.ShortTag() != "!!merge" || !isPlain(child) {
			return false
		}
	}
	return true
}

// builtAs says why kustomize does not build the object of that name with our marks.
func builtAs(name string, artifact *tree.Tree) (err error) {
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
	if one.GetName() != name || one.GetKind() != "ApplicationDefinition" {
		return fmt.Errorf("kustomize builds %s %s, want %s", one.GetKind(), one.GetName(), name)
	}
	for label, want := range map[string]string{"app.kubernetes.io/managed-by": "winnow", "catalog.winnow.dev/name": "kkp", "team": "on"} {
		if got := one.GetLabels()[label]; got != want {
			return fmt.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	for annotation, want := range map[string]string{"kustomize.toolkit.fluxcd.io/prune": "disabled", "a/b": "1: #"} {
		if got := one.GetAnnotations()[annotation]; got != want {
			return fmt.Errorf("annotation %s is %q, want %q", annotation, got, want)
		}
	}
	return nil
}
