// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// threeApplications has one of each shape: several versions, none, and another kind of API.
func threeApplications() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"applications/b/application.yaml": file("apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\n" +
			"metadata: {name: argocd}\nspec:\n  versions:\n  - {version: \"2.0.0\"}\n  - {version: \"1.0.0\"}\n  - {version: \"3.0.0\"}\n"),
		"applications/a/application.yaml": file("apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\n" +
			"metadata: {name: nginx}\nspec: {description: none yet}\n"),
		"applications/c/application.yaml": file("apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\n" +
			"metadata: {name: vm}\nspec: {application: {kind: VM, plural: vms, singular: vm}}\n"),
	}
}

func jsonPatch(name, patch string) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Patches = append(cs.Spec.Patches, kustomize.Patch{Patch: patch, Target: definitionNamed(name)})
	}
}

func TestDefinitionsAreThoseThatKustomizeBuilds(t *testing.T) {
	const atArgocd = "argocd"
	narrowed := func(constraint string, latest int32) func(*v1alpha1.CatalogSelection) {
		return func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Versions = []v1alpha1.VersionRule{{Names: []string{atArgocd}, Constraint: constraint, Latest: latest}}
		}
	}
	for _, test := range []struct {
		name string
		edit []func(*v1alpha1.CatalogSelection)
		// argocd's and nginx's versions; vm never has any.
		argocd, nginx []string
	}{
		{"as the catalog has them", nil, []string{"2.0.0", "1.0.0", "3.0.0"}, nil},
		{"narrowed by a constraint", []func(*v1alpha1.CatalogSelection){narrowed("<3", 0)}, []string{"2.0.0", "1.0.0"}, nil},
		{"narrowed to the latest", []func(*v1alpha1.CatalogSelection){narrowed("", 1)}, []string{"3.0.0"}, nil},
		{"a patch that is not about versions", []func(*v1alpha1.CatalogSelection){
			jsonPatch(atArgocd, "- {op: add, path: /spec/description, value: x}\n"),
		}, []string{"2.0.0", "1.0.0", "3.0.0"}, nil},
		{"a patch that removes a version", []func(*v1alpha1.CatalogSelection){
			jsonPatch(atArgocd, "- {op: remove, path: /spec/versions/1}\n"),
		}, []string{"2.0.0", "3.0.0"}, nil},
		{"a patch after a rule", []func(*v1alpha1.CatalogSelection){
			narrowed("<3", 0), jsonPatch(atArgocd, "- {op: remove, path: /spec/versions/1}\n"),
		}, []string{"2.0.0"}, nil},
		{"a patch that renames a version", []func(*v1alpha1.CatalogSelection){
			jsonPatch(atArgocd, "- {op: replace, path: /spec/versions/0/version, value: \"9.0.0\"}\n"),
		}, []string{"9.0.0", "1.0.0", "3.0.0"}, nil},
		{"a patch that removes all versions", []func(*v1alpha1.CatalogSelection){
			jsonPatch(atArgocd, "- {op: remove, path: /spec/versions}\n"),
		}, nil, nil},
		{"a merge patch, which replaces the list", []func(*v1alpha1.CatalogSelection){
			func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Patches = []kustomize.Patch{{Patch: strategic(atArgocd, "spec: {versions: [{version: \"4.0.0\"}]}\n")}}
			},
		}, []string{"4.0.0"}, nil},
		{"a patch that makes a version a number", []func(*v1alpha1.CatalogSelection){
			jsonPatch(atArgocd, "- {op: replace, path: /spec/versions/0/version, value: 2}\n"),
		}, []string{"1.0.0", "3.0.0"}, nil},
		{"a patch that gives versions to one without", []func(*v1alpha1.CatalogSelection){
			jsonPatch("nginx", "- {op: add, path: /spec/versions, value: [{version: \"1.0.0\"}]}\n"),
		}, []string{"2.0.0", "1.0.0", "3.0.0"}, []string{"1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := renderFS(t.Context(), threeApplications(), selectionOf(func(cs *v1alpha1.CatalogSelection) {
				for _, edit := range test.edit {
					edit(cs)
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			want := []safeguard.Definition{
				{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "argocd", Source: "catalog", Versions: test.argocd},
				{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "nginx", Source: "catalog", Versions: test.nginx},
				{APIVersion: "cozystack.io/v1alpha1", Kind: "ApplicationDefinition", Name: "vm", Source: "catalog", Identity: map[string]string{
					"spec.backend.type": "Helm", "spec.release.prefix": "", "spec.application.kind": "VM", "spec.application.plural": "vms",
				}},
			}
			if !reflect.DeepEqual(result.Definitions, want) {
				t.Errorf("got  %v\nwant %v", result.Definitions, want)
			}
			checkBuilt(t, result)
		})
	}
}

// checkBuilt compares the definitions with what kustomize builds of the tree.
func checkBuilt(t *testing.T, result *render.Result) {
	t.Helper()
	stream, err := kustomized.YAML(result.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Definitions {
		built := builtDefinition(t, stream, d.Name)
		built.Source = d.Source
		if !reflect.DeepEqual(built, d) {
			t.Errorf("kustomize builds %v, not %v", built, d)
		}
	}
}

func builtDefinition(t *testing.T, stream []byte, name string) safeguard.Definition {
	t.Helper()
	for _, text := range bytes.Split(stream, []byte("---\n")) {
		var object map[string]any
		if err := yaml.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		if metadata, _ := object["metadata"].(map[string]any); metadata["name"] == name {
			return safeguard.DefinitionOf(object)
		}
	}
	t.Fatalf("%s is not built", name)
	return safeguard.Definition{}
}
