// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	godigest "github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// catalogOf returns three applications, two gold and one silver.
func catalogOf(name string) []app {
	return []app{
		{name: name + "-a", tier: "gold", versions: []string{"1.0.0", "1.1.0"}, values: "a"},
		{name: name + "-b", tier: "gold", versions: []string{"2.0.0"}, values: "b"},
		{name: name + "-c", tier: "silver", versions: []string{"3.0.0"}, values: "c"},
	}
}

func onlyTier(tier string) func(*v1alpha1.CatalogSelection, *kustomizev1.Kustomization) {
	return func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{tier}}}
	}
}

func resourceVersions(objects map[string]unstructured.Unstructured) map[string]string {
	versions := map[string]string{}
	for name, o := range objects {
		versions[name] = o.GetResourceVersion()
	}
	return versions
}

func TestNewTagChangesExactlyTheChangedApplication(t *testing.T) {
	s := newScenario(t, "tag", catalogOf("tag"), nil)
	before := resourceVersions(s.awaitApplied("tag-a", "tag-b", "tag-c"))

	apps := catalogOf("tag")
	apps[1].values = "changed"
	s.push("v2", apps)
	s.point("v2")

	s.await("tag-b changed", func(ctx context.Context) error {
		now, err := s.definitions(ctx)
		b := now["tag-b"]
		if values, _, _ := unstructured.NestedString(b.Object, "spec", "defaultValuesBlock"); !strings.Contains(values, "changed") {
			return fmt.Errorf("values are %q", values)
		}
		return err
	})
	after := resourceVersions(s.awaitApplied("tag-a", "tag-b", "tag-c"))
	if after["tag-a"] != before["tag-a"] || after["tag-c"] != before["tag-c"] {
		t.Errorf("unchanged applications were written: %v, then %v", before, after)
	}
	if after["tag-b"] == before["tag-b"] {
		t.Error("the changed application was not written")
	}
}

func TestObjectsCarryWhatTheSelectionAdds(t *testing.T) {
	s := newScenario(t, "marks", catalogOf("marks"), func(cs *v1alpha1.CatalogSelection, ks *kustomizev1.Kustomization) {
		cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan
		cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{
			Labels:      map[string]string{"team": "platform"},
			Annotations: map[string]string{"example.com/contact": "platform@example.com"},
		}
		ks.Spec.PostBuild = &kustomizev1.PostBuild{Substitute: map[string]string{"NOT_FLUXS": "replaced"}}
	})
	applied := s.awaitApplied("marks-a", "marks-b", "marks-c")["marks-a"]

	wantLabels := map[string]string{
		"team":                                  "platform",
		v1alpha1.ManagedByLabel:                 v1alpha1.ManagedByValue,
		v1alpha1.NameLabel:                      "marks",
		v1alpha1.NamespaceLabel:                 "marks",
		"kustomize.toolkit.fluxcd.io/name":      "marks",
		"kustomize.toolkit.fluxcd.io/namespace": "marks",
	}
	wantAnnotations := map[string]string{
		"example.com/contact":                    "platform@example.com",
		"kustomize.toolkit.fluxcd.io/prune":      "disabled",
		"kustomize.toolkit.fluxcd.io/ssa":        "Merge",
		"kustomize.toolkit.fluxcd.io/substitute": "disabled",
	}
	if got := applied.GetLabels(); fmt.Sprint(got) != fmt.Sprint(wantLabels) {
		t.Errorf("labels are %v, want %v", got, wantLabels)
	}
	if got := applied.GetAnnotations(); fmt.Sprint(got) != fmt.Sprint(wantAnnotations) {
		t.Errorf("annotations are %v, want %v", got, wantAnnotations)
	}
	values, _, _ := unstructured.NestedString(applied.Object, "spec", "defaultValuesBlock")
	if want := "note: \"a\" # {{ .Cluster.Version }} ${NOT_FLUXS}\n"; values != want {
		t.Errorf("values are %q, want %q", values, want)
	}
}

func TestLimitInGitChangesWhatIsApplied(t *testing.T) {
	s := newScenario(t, "limit", catalogOf("limit"), nil)
	s.awaitApplied("limit-a", "limit-b", "limit-c")

	cs := s.selection.DeepCopy()
	s.update(cs, func() {
		cs.Spec.Limit = &v1alpha1.Limit{
			MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}},
			NameSelector:     []string{"limit-a", "limit-c"},
		}
		cs.Spec.Safeguards.Approve = []string{"limit-b", "limit-c"}
	})
	s.awaitApplied("limit-a")

	s.update(cs, func() { cs.Spec.Limit, cs.Spec.Exclude = nil, []string{"limit-b"} })
	s.awaitApplied("limit-a", "limit-c")
}

func TestCatalogChangeOutsideTheSelectionReconcilesNothing(t *testing.T) {
	s := newScenario(t, "outside", catalogOf("outside"), onlyTier("gold"))
	s.awaitApplied("outside-a", "outside-b")
	before, eaBefore, ksBefore, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	apps := catalogOf("outside")
	apps[2].values = "changed"
	s.push("v2", apps)
	s.point("v2")
	s.awaitSelection("the new source", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || cs.Status.Sources[0].Revision == before.Status.Sources[0].Revision {
			return fmt.Errorf("source is %s", cs.Status.Sources[0].Revision)
		}
		return nil
	})
	after, eaAfter, ksAfter, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := before.Status.Artifact, after.Status.Artifact; a.Revision != b.Revision || a.Digest != b.Digest {
		t.Errorf("the artifact changed: %v, then %v", a, b)
	}
	if a, b := eaBefore.Status.Artifact, eaAfter.Status.Artifact; a.Revision != b.Revision || a.Digest != b.Digest || a.URL != b.URL {
		t.Errorf("the ExternalArtifact changed: %v, then %v", a, b)
	}
	if ksBefore.ResourceVersion != ksAfter.ResourceVersion {
		t.Errorf("the Kustomization was reconciled: %+v, then %+v", ksBefore.Status, ksAfter.Status)
	}

	// The Kustomization would have been triggered by now: a relevant change arrives after the
	// irrelevant one.
	apps[0].values = "changed"
	s.push("v3", apps)
	s.point("v3")
	s.await("the next revision", func(ctx context.Context) error {
		_, ea, ks, err := s.live(ctx)
		if err != nil || ks.Status.LastAppliedRevision == ksBefore.Status.LastAppliedRevision {
			return fmt.Errorf("not applied: %w", err)
		}
		if got := len(ks.Status.History); got != 2 {
			return fmt.Errorf("the Kustomization applied %d revisions, want 2; ExternalArtifact %v", got, ea.Status.Artifact)
		}
		return nil
	})
}

func TestInvalidCatalogKeepsTheLastGoodArtifact(t *testing.T) {
	s := newScenario(t, "invalid", catalogOf("invalid"), nil)
	s.awaitApplied("invalid-a", "invalid-b", "invalid-c")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	write(t, dir+"/applications/one/application.yaml", "apiVersion: apps.kubermatic.k8c.io/v1\nkind: Deployment\nmetadata:\n  name: invalid-a\nspec: {}\n")
	write(t, dir+"/applications/two/application.yaml", "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {}\nspec: {}\n")
	write(t, dir+"/applications/three/metadata.yaml", "tier: gold\n")
	s.pushDir("v2", dir)
	s.point("v2")

	cs := s.awaitStalled(v1alpha1.InvalidCatalogReason)
	message := conditions.GetMessage(cs, meta.ReadyCondition)
	for _, where := range []string{"applications/one/application.yaml:2", "applications/two/application.yaml:3", "applications/three"} {
		if !strings.Contains(message, where) {
			t.Errorf("the message does not name %s: %s", where, message)
		}
	}
	s.assertServed(ea)
	if applied, err := s.definitions(t.Context()); err != nil || len(applied) != 3 {
		t.Errorf("the cluster has %d definitions (%v), want 3", len(applied), err)
	}

	s.point("v1")
	s.awaitApplied("invalid-a", "invalid-b", "invalid-c")
}

// assertServed checks that the ExternalArtifact is unchanged, and that its archive is served.
func (s *scenario) assertServed(before *sourcev1.ExternalArtifact) {
	s.t.Helper()
	_, ea, _, err := s.live(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if ea.ResourceVersion != before.ResourceVersion {
		s.t.Errorf("the ExternalArtifact was written: %+v, then %+v", before.Status, ea.Status)
	}
	if got := s.download(s.t.Context(), ea.Status.Artifact.URL); got != ea.Status.Artifact.Digest {
		s.t.Errorf("%s serves %s, want %s", ea.Status.Artifact.URL, got, ea.Status.Artifact.Digest)
	}
}

// download returns the digest of the content at the URL.
func (s *scenario) download(ctx context.Context, url string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.Status
	}
	digest, err := godigest.FromReader(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return digest.String()
}

func TestAnEmptySelectionIsTheLossOfAll(t *testing.T) {
	s := newScenario(t, "empty", catalogOf("empty"), onlyTier("gold"))
	s.awaitApplied("empty-a", "empty-b")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cs := s.selection.DeepCopy()
	s.update(cs, func() { cs.Spec.Limit.MetadataSelector.TierRefs = []string{"Gold"} })
	held := s.awaitHeld(s.digestOf("v1"), "Removal empty-a [1.0.0 1.1.0]", "Removal empty-b [2.0.0]")
	if !conditions.IsReady(held) {
		t.Errorf("the conditions are %+v", held.Status.Conditions)
	}
	s.assertServed(ea)

	s.update(cs, func() { cs.Spec.Limit.MetadataSelector.TierRefs = []string{"silver"} })
	s.approveHeld(held, "empty-a", "empty-b")
	s.awaitApplied("empty-c")
	s.awaitSelection("not held", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsFalse(cs, v1alpha1.HeldCondition) {
			return fmt.Errorf("still held")
		}
		return nil
	})
}

func TestSeveralSelectionsShareASource(t *testing.T) {
	s := newScenario(t, "shared", catalogOf("shared"), onlyTier("gold"))
	s.awaitApplied("shared-a", "shared-b")
	other := &v1alpha1.CatalogSelection{}
	other.Name, other.Namespace = "shared-too", "shared"
	other.Spec = *s.selection.Spec.DeepCopy()
	other.Spec.Limit = nil
	s.create(other)
	t.Cleanup(func() { s.remove(other) })
	s.await("the second selection", func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(other), other); err != nil || !conditions.IsReady(other) {
			return fmt.Errorf("not ready: %w %+v", err, other.Status.Conditions)
		}
		return nil
	})
	names := func(cs *v1alpha1.CatalogSelection) (names []string) {
		for _, a := range cs.Status.Applications {
			names = append(names, a.Name)
		}
		return names
	}
	if got, want := names(other), []string{"shared-a", "shared-b", "shared-c"}; !slices.Equal(got, want) {
		t.Errorf("the second selection has %v, want %v", got, want)
	}
}
