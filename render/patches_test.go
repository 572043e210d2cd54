// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

// unbounded maps names to patches that make much of little: kustomize would take all memory, or the whole stack.
func unbounded() map[string]string {
	strategic := "apiVersion: any/v1\nkind: any\nmetadata: {name: any}\nspec:\n"
	aliases := strategic + "  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		aliases += fmt.Sprintf("  a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	var copies strings.Builder
	for i := range 20 {
		fmt.Fprintf(&copies, "- {op: copy, from: /spec, path: /spec/a%d}\n", i)
	}
	return map[string]string{
		"an alias of itself in a strategic merge patch": strings.Replace(strategic, "spec:", "spec: &a", 1) + "  b: *a\n",
		"an alias of itself in a list":                  strategic + "  x: &a [*a]\n",
		"an alias of itself in a JSON patch":            "- {op: add, path: /spec/x, value: &a {b: *a}}\n",
		"an alias of itself behind a merge key":         strings.Replace(strategic, "spec:", "spec: &a", 1) + "  <<: *a\n",
		"aliases of aliases":                            aliases,
		"copies of copies":                              copies.String(),
		"copies whose operation is written in base64":   strings.ReplaceAll(copies.String(), "copy", "!!binary Y29weQ=="),
		"copies in JSON":                                "[" + strings.TrimSuffix(strings.Repeat(`{"op":"copy","from":"/spec","path":"/spec/a"},`, 9), ",") + "]",
	}
}

func TestPatchesWithoutBoundAreInvalid(t *testing.T) {
	for name, patch := range unbounded() {
		t.Run(name, func(t *testing.T) {
			_, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), selectionOf(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Patches = []kustomize.Patch{{Patch: patch, Target: &kustomize.Selector{Name: "argocd"}}}
			}))
			if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.HasPrefix(err.Error(), "spec.patches[0].patch: ") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestPatchesOfAnArtifactHaveTheBoundsOfASpec(t *testing.T) {
	for name, patch := range unbounded() {
		t.Run(name, func(t *testing.T) {
			kustomization := fmt.Sprintf("resources: [applicationdefinitions/argocd.yaml]\npatches:\n- {target: {name: argocd}, patch: %q}\n", patch)
			_, err := render.ReadArtifact(t.Context(), packed(t, "applicationdefinitions/argocd.yaml", artifactDefinition, "kustomization.yaml", kustomization))
			if err == nil || !strings.HasPrefix(err.Error(), "a patch of the artifact cannot be read: ") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Each patch adds its text to all objects of its target, which earlier patches may have made more.
func TestCostOfWhatPatchesAdd(t *testing.T) {
	large := func(target kustomize.Selector) kustomize.Patch {
		return kustomize.Patch{Patch: "- {op: add, path: /spec/x, value: " + strings.Repeat("x", 900<<10) + "}\n", Target: &target}
	}
	all, argocd := kustomize.Selector{Kind: ".*"}, kustomize.Selector{Name: "argocd"}
	rename := kustomize.Patch{Patch: "- {op: replace, path: /metadata/name, value: argocd}\n", Target: &all}
	copies := kustomize.Patch{Patch: strings.Repeat("- {op: copy, from: /spec, path: /spec/y}\n", 8), Target: &argocd}
	for name, patches := range map[string][]kustomize.Patch{
		"by kind":       {large(all), large(all), large(all)},
		"by a new name": {rename, large(argocd), large(argocd), large(argocd)},
		"with copies":   {large(argocd), copies},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), selectionOf(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Patches = patches }))
			if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.HasPrefix(err.Error(), "spec.patches: patches may add more than") {
				t.Errorf("%.200v", err)
			}
		})
	}
}

// What would take minutes, or would not end soon after its context, is not begun.
func TestCostOfTooManyPatchedObjects(t *testing.T) {
	for _, test := range []struct{ objects, patches int }{{5_001, 1}, {201, 250}, {1, 501}} {
		var all strings.Builder
		for i := range test.objects {
			fmt.Fprintf(&all, "---\napiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: a%d}\nspec:\n  method: helm\n  versions:\n"+
				"  - {version: 1.0.0, template: {source: {helm: {url: 'https://charts.example', chartName: a, chartVersion: 1.0.0}}}}\n", i)
		}
		patch := kustomize.Patch{Patch: "- {op: add, path: /spec/x, value: y}", Target: &kustomize.Selector{Name: "a0"}}
		_, err := renderFS(t.Context(), fstest.MapFS{"all.yaml": {Data: []byte(all.String())}}, selectionOf(func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Sources[0].Format = v1alpha1.FormatDefinitions
			cs.Spec.Patches = slices.Repeat([]kustomize.Patch{patch}, test.patches)
		}))
		if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.HasPrefix(err.Error(), "spec.patches: ") {
			t.Errorf("%d patches of %d objects: %.200v", test.patches, test.objects, err)
		}
	}
}
