// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func versionsOf(definition unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var versions []string
	for _, item := range list {
		version, _, _ := unstructured.NestedString(item.(map[string]any), "version")
		versions = append(versions, version)
	}
	return versions
}

func TestVersionsValuesMirrorsAndPatchesReachTheCluster(t *testing.T) {
	apps := catalogOf("change")
	apps[0].versions = []string{"1.0.0", "1.1.0", "2.0.0"}
	s := newScenario(t, "change", apps, func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Limit = &v1alpha1.Limit{Expression: `app.tier == "gold" && semver(app.latestVersion) < semver("3.0.0")`}
		cs.Spec.Versions = []v1alpha1.VersionRule{{Names: []string{"change-a"}, Constraint: ">=1.1.0", Latest: 1}}
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example.com", To: "registry.internal/charts"}}
		cs.Spec.RequireMirrors = true
		cs.Spec.Values = []v1alpha1.ValuesRule{{
			Names:     []string{"change-a"},
			Defaults:  &apiextensionsv1.JSON{Raw: []byte(`{"note":"not me","extra":{"added":true}}`)},
			Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"image":"quay.io/x/y:1"}`)},
		}}
		cs.Spec.Mirrors = append(cs.Spec.Mirrors, v1alpha1.Mirror{From: "quay.io", To: "registry.internal/quay"})
		cs.Spec.Patches = []kustomize.Patch{{
			Target: &kustomize.Selector{Kind: "ApplicationDefinition", Name: "change-b"},
			Patch:  "- op: replace\n  path: /spec/description\n  value: patched\n",
		}}
	})
	applied := s.awaitApplied("change-a", "change-b")

	a := applied["change-a"]
	if got, want := versionsOf(a), []string{"2.0.0"}; !slices.Equal(got, want) {
		t.Errorf("versions are %v, want %v", got, want)
	}
	versions, _, _ := unstructured.NestedSlice(a.Object, "spec", "versions")
	url, _, _ := unstructured.NestedString(versions[0].(map[string]any), "template", "source", "helm", "url")
	if want := "https://registry.internal/charts"; url != want {
		t.Errorf("the chart comes from %s, want %s", url, want)
	}
	values, _, _ := unstructured.NestedString(a.Object, "spec", "defaultValuesBlock")
	for _, want := range []string{
		`note: "a" # {{ .Cluster.Version }} ${NOT_FLUXS}`, "added: true", "image: registry.internal/quay/x/y:1",
	} {
		if !strings.Contains(values, want) {
			t.Errorf("the values lack %q:\n%s", want, values)
		}
	}
	b := applied["change-b"]
	if got, _, _ := unstructured.NestedString(b.Object, "spec", "description"); got != "patched" {
		t.Errorf("the description is %q, want that of the patch", got)
	}

	cs := s.selection.DeepCopy()
	s.update(cs, func() { cs.Spec.Patches[0].Target.Name = "change-nobody" })
	stalled := s.awaitStalled(v1alpha1.InvalidSpecReason)
	if message := conditions.GetMessage(stalled, meta.ReadyCondition); !strings.Contains(message, "spec.patches[0]") {
		t.Errorf("the message does not name the patch: %s", message)
	}
	s.update(cs, func() { cs.Spec.Patches, cs.Spec.Limit.Expression = nil, `app.teir == "gold"` })
	stalled = s.awaitStalled(v1alpha1.InvalidSpecReason)
	if message := conditions.GetMessage(stalled, meta.ReadyCondition); !strings.Contains(message, "teir") || !strings.Contains(message, "line 1, column") {
		t.Errorf("the message does not point at the mistake: %s", message)
	}
}

func TestAdminsEditOfAnOmittedFieldSurvivesTheNextUpgrade(t *testing.T) {
	s := newScenario(t, "omit", catalogOf("omit"), nil)
	a := s.awaitApplied("omit-a", "omit-b", "omit-c")["omit-a"]
	patch := []byte(`{"spec":{"enforced":true,"default":true,"selector":{"datacenters":["here"]}}}`)
	if err := system.Client().Patch(t.Context(), &a, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner("admin")); err != nil {
		t.Fatal(err)
	}

	apps := catalogOf("omit")
	apps[0].values, apps[0].switches = "changed", true
	s.push("v2", apps)
	s.point("v2")
	s.await("the upgrade", func(ctx context.Context) error {
		now, err := s.definitions(ctx)
		a = now["omit-a"]
		if values, _, _ := unstructured.NestedString(a.Object, "spec", "defaultValuesBlock"); !strings.Contains(values, "changed") {
			return fmt.Errorf("values are %q", values)
		}
		return err
	})
	s.awaitApplied("omit-a", "omit-b", "omit-c")
	enforced, _, _ := unstructured.NestedBool(a.Object, "spec", "enforced")
	isDefault, _, _ := unstructured.NestedBool(a.Object, "spec", "default")
	datacenters, _, _ := unstructured.NestedStringSlice(a.Object, "spec", "selector", "datacenters")
	if !enforced || !isDefault || !slices.Equal(datacenters, []string{"here"}) {
		t.Errorf("the admin's edits are gone: %v", a.Object["spec"])
	}
}

func TestObjectsNameTheirSourceUnderProvenanceObject(t *testing.T) {
	s := newScenario(t, "origin", catalogOf("origin")[:1], func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Provenance = v1alpha1.ProvenanceObject
	})
	a := s.awaitApplied("origin-a")["origin-a"]
	cs, _, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(cs.Status.Sources[0].Revision, "@")
	if got := a.GetAnnotations()[v1alpha1.SourceDigestAnnotation]; got != want || got == "" {
		t.Errorf("the object names the digest %q, want %q", got, want)
	}
}
