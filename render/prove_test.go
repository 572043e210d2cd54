// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

func definitionNamed(name string) *kustomize.Selector {
	return &kustomize.Selector{Kind: "ApplicationDefinition", Name: name}
}

func strategic(name, rest string) string {
	return "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name + "\n" + rest
}

func TestPatchesThatCannotBeMeantAreRefused(t *testing.T) {
	const replace = "- {op: replace, path: /spec/description, value: x}\n"
	for _, test := range []struct {
		name    string
		patch   kustomize.Patch
		field   string
		message string
	}{
		{"a target that matches nothing", kustomize.Patch{Patch: replace, Target: definitionNamed("argo")}, "spec.patches[0]", "matches no object"},
		{"a label that only Winnow sets", kustomize.Patch{Patch: replace, Target: &kustomize.Selector{LabelSelector: v1alpha1.NameLabel}}, "spec.patches[0]", "matches no object"},
		{"a target that is no expression", kustomize.Patch{Patch: replace, Target: definitionNamed("(")}, "spec.patches[0]", "cannot be read"},
		{"a selector that is none", kustomize.Patch{Patch: replace, Target: &kustomize.Selector{LabelSelector: "a in"}}, "spec.patches[0]", "cannot be read"},
		{"a strategic merge patch of nobody", kustomize.Patch{Patch: strategic("argo", "spec: {description: x}\n")}, "spec.patches[0]", "names the object ApplicationDefinition.v1.apps.kubermatic.k8c.io/argo"},
		{"a path that is not there", kustomize.Patch{Patch: "- {op: replace, path: /spec/nothing/here, value: x}\n", Target: definitionNamed("argocd")}, "spec.patches", "refuses"},
		{"what is no patch", kustomize.Patch{Patch: "hello", Target: definitionNamed("argocd")}, "spec.patches", "refuses"},
		{"a removal", kustomize.Patch{Patch: strategic("argocd", "$patch: delete\n")}, "spec.patches", "gone: ApplicationDefinition.apps.kubermatic.k8c.io argocd; use exclude"},
		{"a new name", kustomize.Patch{Patch: "- {op: replace, path: /metadata/name, value: other}\n", Target: definitionNamed("argocd")}, "spec.patches", ""},
		{"a new group", kustomize.Patch{Patch: "- {op: replace, path: /apiVersion, value: other.io/v1}\n", Target: definitionNamed("argocd")}, "spec.patches", ""},
		{"a new kind", kustomize.Patch{Patch: "- {op: replace, path: /kind, value: Secret}\n", Target: definitionNamed("argocd")}, "spec.patches", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := selectionOf(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Patches = []kustomize.Patch{test.patch} })
			result, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), cs)
			var invalid *render.Error
			if !errors.As(err, &invalid) {
				if err == nil {
					err = errors.New(files(result.Tree)["kustomization.yaml"])
				}
				t.Fatalf("not refused: %v", err)
			}
			if invalid.Reason() != v1alpha1.InvalidSpecReason || invalid.Field != test.field || !strings.Contains(err.Error(), test.message) {
				t.Errorf("%s %s: %v", invalid.Reason(), invalid.Field, err)
			}
		})
	}
}

func TestMirrorsThatAreRequiredHaveToCoverEverything(t *testing.T) {
	cs := selectionOf(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd", "velero"}}
		cs.Spec.RequireMirrors = true
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "argoproj.github.io", To: "mirror.internal"}}
	})
	_, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), cs)
	if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), "velero: ") || strings.Contains(err.Error(), "argocd: ") {
		t.Errorf("Render() = %v", err)
	}
	cs.Spec.Limit.NameSelector = []string{"argocd"}
	if _, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), cs); err != nil {
		t.Errorf("Render() = %v", err)
	}
}

func TestMistakesOfASpecAreInvalidSpec(t *testing.T) {
	for _, test := range []struct {
		name, field, message string
		edit                 func(*v1alpha1.CatalogSelection)
	}{
		{"a list that no source has", "spec.limit.catalogRefs", "default, security", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{CatalogRefs: []string{"standard"}}
		}},
		{"an expression that fails for an application", "spec.limit.expression", "argocd", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Limit = &v1alpha1.Limit{Expression: `app.metadata.review.by == "me"`}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), selectionOf(test.edit))
			var invalid *render.Error
			if !errors.As(err, &invalid) || invalid.Reason() != v1alpha1.InvalidSpecReason || invalid.Field != test.field ||
				!strings.Contains(err.Error(), test.message) {
				t.Errorf("Render() = %v", err)
			}
		})
	}
}
