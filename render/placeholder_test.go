// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/placeholder"
	"github.com/winnow-dev/winnow/render/selection"
)

// withPatches renders one application with annotations and patches.
func withPatches(t *testing.T, patches ...kustomize.Patch) *render.Result {
	t.Helper()
	loaded, err := render.LoadArchive(t.Context(), "catalog", packed(t, "applications/argocd/application.yaml", artifactDefinition), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace, cs.Spec.Patches = "kkp", "apps", patches
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Catalog: loaded}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func placeholders() []placeholder.Placeholder {
	return []placeholder.Placeholder{
		{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "nginx"},
		{APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease", Namespace: "web", Name: "web"},
	}
}

// Flux applies no object with this annotation in its manifest, whatever else is set on all objects of the artifact.
func TestAPlaceholderIsNotApplied(t *testing.T) {
	for name, patches := range map[string][]kustomize.Patch{
		"without patches":                     nil,
		"with a patch of one object":          {{Patch: "- {op: remove, path: /spec/versions/0}\n", Target: &kustomize.Selector{Name: "argocd"}}},
		"with a patch that names its object":  {{Patch: "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: argocd}\nspec: {x: y}\n"}},
		"with a patch of all, of annotations": {{Patch: "apiVersion: v1\nkind: X\nmetadata: {name: x, annotations: {example.com/a: b}}\n", Target: &kustomize.Selector{Kind: "ApplicationDefinition"}}},
	} {
		t.Run(name, func(t *testing.T) {
			result := withPatches(t, patches...)
			kept, err := result.WithPlaceholders(t.Context(), placeholders())
			if err != nil {
				t.Fatal(err)
			}
			stream, err := kustomized.YAML(kept.Tree)
			if err != nil {
				t.Fatal(err)
			}
			documents := strings.Split(string(stream), "\n---\n")
			if len(documents) != 3 {
				t.Fatalf("kustomize builds %d objects, want 3:\n%s", len(documents), stream)
			}
			for _, document := range documents {
				ours := strings.Contains(document, "name: argocd")
				if strings.Contains(document, "kustomize.toolkit.fluxcd.io/reconcile: disabled") == ours {
					t.Errorf("Flux applies a placeholder, or not the application:\n%s", document)
				}
			}
			if got := readBack(t, kept); !reflect.DeepEqual(got, result.Definitions) {
				t.Errorf("ReadArtifact() = %+v, want the definitions without placeholders", got)
			}
			if !reflect.DeepEqual(kept.Compared(), result.Compared()) || kept.Revision == result.Revision {
				t.Errorf("a placeholder changes what is compared, or not the revision")
			}
			again, err := result.WithPlaceholders(t.Context(), []placeholder.Placeholder{placeholders()[1], placeholders()[0], placeholders()[0]})
			if err != nil || again.Revision != kept.Revision {
				t.Errorf("another order, and a repetition, give another revision: %v", err)
			}
		})
	}
}

func TestWithoutPlaceholdersTheArtifactIsTheSame(t *testing.T) {
	result := withPatches(t)
	if kept, err := result.WithPlaceholders(t.Context(), nil); err != nil || kept != result {
		t.Errorf("WithPlaceholders(nil) = %v, %v", kept, err)
	}
}

// A patch that a placeholder would be applied with, or that fails on it, leaves it alone: no patch ends publications while
// an object leaves.
func TestAPatchLeavesPlaceholdersAlone(t *testing.T) {
	for name, patch := range map[string]string{
		"it replaces all annotations":        "- {op: replace, path: /metadata/annotations, value: {example.com/a: b}}\n",
		"it needs fields of the application": "- {op: replace, path: /spec/description, value: x}\n",
	} {
		t.Run(name, func(t *testing.T) {
			catalog := strings.Replace(artifactDefinition, "metadata: {name: argocd}", "metadata: {name: argocd, annotations: {a.example/b: c}}", 1)
			catalog = strings.Replace(catalog, "spec: {", "spec: {description: y, ", 1)
			loaded, err := render.LoadArchive(t.Context(), "catalog", packed(t, "applications/argocd/application.yaml", catalog), render.CatalogLocation{})
			if err != nil {
				t.Fatal(err)
			}
			cs := &v1alpha1.CatalogSelection{}
			cs.Name, cs.Namespace = "kkp", "apps"
			cs.Spec.Patches = []kustomize.Patch{
				{Patch: patch, Target: &kustomize.Selector{Kind: "ApplicationDefinition"}},
				{Patch: patch, Target: &kustomize.Selector{AnnotationSelector: "a.example/b!=d"}},
			}
			cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
			opts, err := render.FromSpec(cs)
			if err != nil {
				t.Fatal(err)
			}
			result, err := render.Render(t.Context(), []selection.Source{{Catalog: loaded}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := result.WithPlaceholders(t.Context(), placeholders())
			if err != nil {
				t.Fatal(err)
			}
			stream, err := kustomized.YAML(kept.Tree)
			if err != nil || strings.Count(string(stream), "kustomize.toolkit.fluxcd.io/reconcile: disabled") != 2 {
				t.Errorf("Flux applies a placeholder, or not the application: %v\n%s", err, stream)
			}
			plain, err := kustomized.YAML(result.Tree)
			if err != nil || !strings.Contains(string(stream), strings.TrimSuffix(string(plain), "\n")) {
				t.Errorf("the application is not the same beside placeholders: %v\n%s\n%s", err, plain, stream)
			}
		})
	}
}

func TestPatchesOfAKustomizationThatFitPlaceholders(t *testing.T) {
	const named = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: nginx}\n"
	all := &kustomize.Selector{}
	many := make([]kustomize.Patch, 501)
	for i := range many {
		many[i] = kustomize.Patch{Patch: named, Target: &kustomize.Selector{Name: "argocd"}}
	}
	for name, test := range map[string]struct {
		patches []kustomize.Patch
		fits    bool
	}{
		"none":                             {nil, true},
		"a value of all":                   {[]kustomize.Patch{{Patch: "apiVersion: v1\nkind: X\nmetadata: {name: x}\nspec: {a: b}\n", Target: all}}, true},
		"an annotation of all":             {[]kustomize.Patch{{Patch: "- {op: add, path: /metadata/annotations/a, value: b}", Target: all}}, true},
		"an object that is not there":      {[]kustomize.Patch{{Patch: "- {op: remove, path: /spec}", Target: &kustomize.Selector{Name: "argocd"}}}, true},
		"another object by its name":       {[]kustomize.Patch{{Patch: strings.Replace(named, "nginx", "argocd", 1) + "$patch: delete\n"}}, true},
		"it by its name":                   {[]kustomize.Patch{{Patch: named + "spec: {a: b}\n"}}, true},
		"all but placeholders":             {[]kustomize.Patch{{Patch: "- {op: remove, path: /spec}", Target: &kustomize.Selector{AnnotationSelector: placeholder.Excluding}}}, true},
		"an operation without a target":    {[]kustomize.Patch{{Patch: "- {op: remove, path: /spec}"}}, true}, // which kustomize always refuses
		"a field that it lacks":            {[]kustomize.Patch{{Patch: "- {op: replace, path: /spec/versions/0, value: {}}", Target: &kustomize.Selector{Kind: "Application.*"}}}, false},
		"a field of the instance":          {[]kustomize.Patch{{Patch: "- {op: test, path: /spec/interval, value: 5m}", Target: &kustomize.Selector{Namespace: "web"}}}, false},
		"its deletion":                     {[]kustomize.Patch{{Patch: named + "$patch: delete\n"}}, false},
		"its deletion in a later document": {[]kustomize.Patch{{Patch: strings.Replace(named, "nginx", "argocd", 1) + "---\n" + named + "$patch: delete\n"}}, false},
		"its annotations by its name":      {[]kustomize.Patch{{Patch: strings.Replace(named, "nginx", "nginx, annotations: null", 1)}}, false},
		"its annotation": {[]kustomize.Patch{{
			Patch:  "- {op: replace, path: /metadata/annotations/kustomize.toolkit.fluxcd.io~1reconcile, value: enabled}",
			Target: all,
		}}, false},
		"its name":                    {[]kustomize.Patch{{Patch: "- {op: replace, path: /metadata/name, value: x}", Target: &kustomize.Selector{Name: "nginx"}}}, false},
		"a list":                      {[]kustomize.Patch{{Patch: "- {op: add, path: /items, value: []}", Target: all}}, false},
		"a target that is no pattern": {[]kustomize.Patch{{Patch: "- {op: remove, path: /spec}", Target: &kustomize.Selector{Name: "("}}}, false},
		"no YAML":                     {[]kustomize.Patch{{Patch: "a: [", Target: all}}, false},
		"an alias of itself":          {[]kustomize.Patch{{Patch: "a: &a [*a]", Target: all}}, false},
		"copies without bound":        {[]kustomize.Patch{{Patch: strings.Repeat("- {op: copy, from: '', path: /a}\n", 9), Target: all}}, false},
		"too many":                    {many, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := placeholder.Fit(t.Context(), placeholders(), test.patches); (err == nil) != test.fits {
				t.Errorf("FitPlaceholders() = %v, and it fits is %t", err, test.fits)
			}
		})
	}
}
