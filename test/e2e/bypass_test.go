// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// upgrade pushes a catalog with other values than v1, and points Flux to it.
func (s *scenario) upgrade(tag string, apps []app) {
	s.t.Helper()
	s.push(tag, apps)
	s.point(tag)
}

// valued returns the applications with other values.
func valued(apps []app, values string) []app {
	for i := range apps {
		apps[i].values = values
	}
	return apps
}

// publishAll disables the safeguards that the test does not test.
func publishAll(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
	cs.Spec.Safeguards.OnRemoval = v1alpha1.SafeguardPublish
	cs.Spec.Safeguards.OnVersionRemoval = v1alpha1.SafeguardPublish
}

// TestABypassedDefinitionSurvives runs all events that would change or delete a definition, with
// everything set to prune. The definition b, without a bypass, shows that the event took effect.
func TestABypassedDefinitionSurvives(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(s *scenario)
	}{
		{"upgrade", func(s *scenario) {
			s.upgrade("v2", valued(catalogOf(s.name), "second"))
			s.awaitNote(s.name+"-b", "second")
			s.awaitSettled()
		}},
		{"deselect", func(s *scenario) {
			cs := s.selection.DeepCopy()
			s.update(cs, func() { cs.Spec.Exclude = []string{s.name + "-a", s.name + "-b"} })
			s.awaitGone(s.t.Context(), definitionOf(s.name+"-b"))
			s.awaitSettled()
		}},
		{"vanish", func(s *scenario) {
			s.upgrade("v2", catalogOf(s.name)[2:])
			s.awaitGone(s.t.Context(), definitionOf(s.name+"-b"))
			s.awaitSettled()
		}},
		{"unselect", func(s *scenario) { // deletes the CatalogSelection, then the Kustomization
			_, _, ks, err := s.live(s.t.Context())
			if err != nil {
				s.t.Fatal(err)
			}
			s.remove(s.selection.DeepCopy(), ks)
			s.awaitGone(s.t.Context(), definitionOf(s.name+"-b"))
		}},
		{"unapply", func(s *scenario) { // deletes the Kustomization
			_, _, ks, err := s.live(s.t.Context())
			if err != nil {
				s.t.Fatal(err)
			}
			s.remove(ks)
			s.awaitGone(s.t.Context(), definitionOf(s.name+"-b"))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := "bp" + test.name
			s := newScenario(t, name, catalogOf(name), publishAll)
			s.awaitApplied(name+"-a", name+"-b", name+"-c")
			a := definitionOf(name + "-a")
			t.Cleanup(func() { s.remove(a) })
			s.bypass(a.GetName())
			before := s.get(s.t.Context(), a)
			test.do(s)
			if after := s.get(s.t.Context(), a); after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration() {
				t.Errorf("the bypassed definition was changed:\n%v\nbefore\n%v", after, before)
			}
		})
	}
}

func (s *scenario) get(ctx context.Context, d *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	live := d.DeepCopy()
	if err := system.Client().Get(ctx, keyOf(d), live); err != nil {
		s.t.Fatalf("getting %s: %v", d.GetName(), err)
	}
	return live
}

// If neither selection nor Kustomization prunes, Flux deletes no definition, and does not change bypassed ones.
func TestABypassedDefinitionSurvivesAKustomizationThatDoesNotPrune(t *testing.T) {
	s := newScenario(t, "bpkeep", catalogOf("bpkeep"), func(cs *v1alpha1.CatalogSelection, ks *kustomizev1.Kustomization) {
		publishAll(cs, ks)
		cs.Spec.DeletionPolicy, ks.Spec.Prune = v1alpha1.DeletionPolicyOrphan, false
	})
	s.awaitApplied("bpkeep-a", "bpkeep-b", "bpkeep-c")
	t.Cleanup(func() { s.remove(definitionOf("bpkeep-a"), definitionOf("bpkeep-b"), definitionOf("bpkeep-c")) })
	s.bypass("bpkeep-a")
	before := s.get(s.t.Context(), definitionOf("bpkeep-a"))
	s.upgrade("v2", valued(catalogOf("bpkeep")[1:], "second"))
	s.awaitNote("bpkeep-b", "second")
	s.awaitSettled()
	_, _, ks, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.remove(ks)
	if after := s.get(s.t.Context(), definitionOf("bpkeep-a")); after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration() {
		t.Errorf("the bypassed definition was changed: %v", after)
	}
}

func TestAfterTheBypassTheCatalogIsBack(t *testing.T) {
	s := newScenario(t, "bpback", catalogOf("bpback"), nil)
	s.awaitApplied("bpback-a", "bpback-b", "bpback-c")
	s.bypass("bpback-a")
	s.patchDefinition(s.t.Context(), "bpback-a", `{"spec":{"defaultValuesBlock":"note: an admin was here\n"}}`)
	cs := s.awaitSelection("counts the bypassed", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Summary.Bypassed != 1 || !slices.Equal(cs.Status.Bypassed, []string{"bpback-a"}) {
			return fmt.Errorf("summary %+v, names %v", cs.Status.Summary, cs.Status.Bypassed)
		}
		return nil
	})
	s.upgrade("v2", valued(catalogOf("bpback"), "second"))
	s.awaitNote("bpback-b", "second")
	s.awaitSettled()
	s.awaitNote("bpback-a", "an admin was here")

	s.unbypass("bpback-a")
	s.requestReconciliation()
	s.awaitNote("bpback-a", "second")
	s.awaitSelection("counts none", func(now *v1alpha1.CatalogSelection) error {
		if now.Status.Summary.Bypassed != 0 || len(now.Status.Bypassed) != 0 {
			return fmt.Errorf("summary %+v, before %+v", now.Status.Summary, cs.Status.Summary)
		}
		return nil
	})
}

// requestReconciliation requests another reconciliation of the Kustomization, as `flux reconcile` does.
func (s *scenario) requestReconciliation() {
	s.t.Helper()
	_, _, ks, err := s.live(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.update(ks, func() {
		ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: time.Now().String()}
	})
}

func TestAUsersOwnMarkIsNeverTouched(t *testing.T) {
	s := newScenario(t, "bpown", catalogOf("bpown"), publishAll)
	s.awaitApplied("bpown-a", "bpown-b", "bpown-c")
	t.Cleanup(func() { s.remove(definitionOf("bpown-a")) })
	s.annotate(s.t.Context(), "bpown-a", reconcileAnnotation, "disabled")
	s.label(s.t.Context(), "bpown-a", v1alpha1.BypassLabel, "")
	s.awaitSelection("counts the bypassed", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Summary.Bypassed != 1 {
			return fmt.Errorf("summary %+v", cs.Status.Summary)
		}
		return nil
	})
	s.label(s.t.Context(), "bpown-a", v1alpha1.BypassLabel, nil)
	s.awaitSelection("counts none", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Summary.Bypassed != 0 {
			return fmt.Errorf("summary %+v", cs.Status.Summary)
		}
		return nil
	})
	s.upgrade("v2", valued(catalogOf("bpown"), "second"))
	s.awaitNote("bpown-b", "second")
	s.awaitSettled()
	if a := s.get(s.t.Context(), definitionOf("bpown-a")); a.GetAnnotations()[reconcileAnnotation] != "disabled" || strings.Contains(s.note(s.t.Context(), "bpown-a"), "second") {
		t.Errorf("the user's mark was touched: %v", a)
	}
}
