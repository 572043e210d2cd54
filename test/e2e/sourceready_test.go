// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// awaitFailingSource waits until SourceReady has the message of source-controller on a failing source.
func (s *scenario) awaitFailingSource(selection *v1alpha1.CatalogSelection, repository *sourcev1.OCIRepository) {
	s.t.Helper()
	s.await("told what the source says", func(ctx context.Context) error {
		for _, object := range []conditions.Getter{repository, selection} {
			if err := system.Client().Get(ctx, keyOf(object), object); err != nil {
				return err
			}
		}
		said, told := conditions.Get(repository, meta.ReadyCondition), conditions.Get(selection, v1alpha1.SourceReadyCondition)
		switch {
		case said == nil || said.Status != metav1.ConditionFalse || !strings.Contains(said.Message, "missing-secret"):
			return fmt.Errorf("source-controller says %+v", said)
		case told == nil || told.Status != metav1.ConditionFalse || told.Reason != said.Reason ||
			told.Message != fmt.Sprintf("source OCIRepository %s: %s", keyOf(repository), said.Message):
			return fmt.Errorf("told is %+v, of %+v", told, said)
		}
		return nil
	})
}

// TestAFailingSourceIsTold uses the real source-controller, which keeps the artifact of a source that
// fails, and creates none for a source that never worked.
func TestAFailingSourceIsTold(t *testing.T) {
	s := newScenario(t, "failing", catalogOf("failing"), nil)
	s.awaitApplied("failing-a", "failing-b", "failing-c")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repository := s.repository()
	s.update(repository, func() { repository.Spec.SecretRef = &meta.LocalObjectReference{Name: "missing-secret"} })
	cs := s.selection.DeepCopy()
	s.awaitFailingSource(cs, repository)
	if !conditions.IsReady(cs) || !conditions.IsFalse(cs, v1alpha1.HeldCondition) {
		t.Errorf("the conditions are %+v", cs.Status.Conditions)
	}
	t.Logf("%+v", conditions.Get(cs, v1alpha1.SourceReadyCondition))
	s.assertServed(ea)
	reason := conditions.GetReason(cs, v1alpha1.SourceReadyCondition)
	for i := range 3 {
		s.nudge(fmt.Sprint("failing-", i))
	}
	if n := s.eventCounts(t.Context())[reason]; n != 1 {
		t.Errorf("%d events, want one: %v", n, s.eventCounts(t.Context()))
	}
	s.update(repository, func() { repository.Spec.SecretRef = nil })
	s.awaitSelection("told that it works again", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsTrue(cs, v1alpha1.SourceReadyCondition) || !conditions.IsReady(cs) {
			return fmt.Errorf("the conditions are %+v", cs.Status.Conditions)
		}
		return nil
	})

	t.Run("where nothing was published", func(t *testing.T) {
		never := s.repository()
		never.Name = "never"
		never.Spec.SecretRef = &meta.LocalObjectReference{Name: "missing-secret"}
		s.create(never)
		other := &v1alpha1.CatalogSelection{ObjectMeta: s.metaOf("never"), Spec: *s.selection.Spec.DeepCopy()}
		other.Spec.Sources = []v1alpha1.SourceReference{{Name: "never"}}
		s.create(other)
		t.Cleanup(func() { s.remove(other, never) })
		s.awaitFailingSource(other, never)
		said := conditions.GetMessage(never, meta.ReadyCondition)
		if want := "source OCIRepository failing/never has no artifact yet: " + said; conditions.GetMessage(other, meta.ReadyCondition) != want {
			t.Errorf("Ready says %q, want %q", conditions.GetMessage(other, meta.ReadyCondition), want)
		}
	})
}
