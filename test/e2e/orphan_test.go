// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// marksOf returns the labels that name the holder of a definition.
func (s *scenario) marksOf(ctx context.Context, name string) string {
	s.t.Helper()
	labels := s.get(ctx, definitionOf(name)).GetLabels()
	return fmt.Sprintf("unmanaged=%s managed-by=%s of=%s/%s", labels[v1alpha1.UnmanagedLabel],
		labels[v1alpha1.ManagedByLabel], labels[v1alpha1.NamespaceLabel], labels[v1alpha1.NameLabel])
}

func (s *scenario) awaitMarks(name, want string) {
	s.t.Helper()
	s.await(name+" is "+want, func(ctx context.Context) error {
		if got := s.marksOf(ctx, name); got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
}

func TestOrphansAreLabelledAndTakenBack(t *testing.T) {
	custom := definitionOf("orphan-custom")
	custom.Object["spec"] = map[string]any{"method": "helm", "description": "made by hand", "versions": []any{liveVersion("1.0.0")}}
	if err := system.Client().Create(t.Context(), custom); err != nil {
		t.Fatal(err)
	}
	s := newScenario(t, "orphan", catalogOf("orphan"), func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan
		cs.Spec.Cluster.Unmanaged = v1alpha1.UnmanagedLabelled
	})
	t.Cleanup(func() { s.remove(custom, definitionOf("orphan-a"), definitionOf("orphan-b"), definitionOf("orphan-c")) })
	const orphan, own, made = "unmanaged=true managed-by= of=/", "unmanaged= managed-by=winnow of=orphan/orphan", "unmanaged= managed-by= of=/"
	s.awaitMarks("orphan-custom", orphan)
	s.awaitMarks("orphan-a", own)

	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"orphan-a"} })
	s.awaitMarks("orphan-a", orphan)
	s.await("counts those with the label", func(ctx context.Context) error {
		labelled := &unstructured.UnstructuredList{}
		labelled.SetGroupVersionKind(custom.GroupVersionKind())
		if err := system.Client().List(ctx, labelled, client.MatchingLabels{v1alpha1.UnmanagedLabel: "true"}); err != nil {
			return err
		}
		cs, _, _, err := s.live(ctx)
		if err != nil || len(labelled.Items) < 2 || int(cs.Status.Summary.Unmanaged) != len(labelled.Items) {
			return fmt.Errorf("%d have the label, summary %+v: %w", len(labelled.Items), cs.Status.Summary, err)
		}
		return nil
	})
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = nil })
	s.awaitMarks("orphan-a", own)

	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Cluster.Unmanaged = v1alpha1.UnmanagedIgnore })
	s.awaitMarks("orphan-custom", made)
}

// Flux obeys the annotation of the live object: an admission policy may have removed it since Flux applied it.
func TestAnOrphanStaysWhoseLiveObjectLostTheAnnotation(t *testing.T) {
	s := newScenario(t, "stripped", catalogOf("stripped"), func(cs *v1alpha1.CatalogSelection, ks *kustomizev1.Kustomization) {
		publishAll(cs, ks)
		cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan
	})
	t.Cleanup(func() { s.remove(definitionOf("stripped-a"), definitionOf("stripped-b"), definitionOf("stripped-c")) })
	s.awaitApplied("stripped-a", "stripped-b", "stripped-c")
	s.annotate(t.Context(), "stripped-a", pruneAnnotation, nil)
	before := s.get(t.Context(), definitionOf("stripped-a"))
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"stripped-a", "stripped-b"} })
	s.awaitSelection("publishes without both", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || cs.Status.Summary.Selected != 1 {
			return fmt.Errorf("not yet: %+v", cs.Status.Summary)
		}
		return nil
	})
	s.awaitSettled()
	for _, name := range []string{"stripped-a", "stripped-b"} {
		if got := s.get(t.Context(), definitionOf(name)).GetAnnotations()[pruneAnnotation]; got != "disabled" {
			t.Errorf("the annotation of %s is %q", name, got)
		}
	}
	if after := s.get(t.Context(), definitionOf("stripped-a")); after.GetUID() != before.GetUID() {
		t.Error("the definition was deleted and created again")
	}
}

func TestTheSelectionThatHasAppliedAnObjectKeepsIt(t *testing.T) {
	older := newScenario(t, "elder", catalogOf("both"), nil)
	older.await("published", func(ctx context.Context) error {
		cs, _, ks, err := older.live(ctx)
		if err != nil || !conditions.IsReady(cs) || !conditions.IsReady(ks) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	held := older.get(t.Context(), definitionOf("both-a"))

	younger := newScenario(t, "younger", catalogOf("both"), nil)
	cs := younger.awaitStalled(v1alpha1.ConflictReason)
	if message := conditions.GetMessage(cs, "Ready"); message != "the CatalogSelection elder/elder, by its Kustomization elder/elder, "+
		"holds both-a, both-b, both-c as well; exclude them by spec.exclude here, or there to move them here; nothing is deleted" {
		t.Errorf("the message is %q", message)
	}
	if now := older.get(t.Context(), definitionOf("both-a")); now.GetResourceVersion() != held.GetResourceVersion() {
		t.Errorf("the younger has changed it: %v", now)
	}
	younger.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"both-a", "both-b", "both-c"} })
	older.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"both-a"} })
	younger.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"both-b", "both-c"} })
	younger.awaitSelection("takes what became free", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || cs.Status.Summary.Selected != 1 {
			return fmt.Errorf("not yet: %+v", cs.Status.Summary)
		}
		return nil
	})
}
