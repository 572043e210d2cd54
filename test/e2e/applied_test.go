// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// awaitAppliedCondition waits until Applied is "<status> <reason>" and its message contains all parts.
func (s *scenario) awaitAppliedCondition(want string, parts ...string) *v1alpha1.CatalogSelection {
	s.t.Helper()
	return s.awaitSelection("Applied is "+want, func(cs *v1alpha1.CatalogSelection) error {
		c := conditions.Get(cs, v1alpha1.AppliedCondition)
		if c == nil || fmt.Sprintf("%s %s", c.Status, c.Reason) != want {
			return fmt.Errorf("it is %+v", c)
		}
		for _, part := range parts {
			if !strings.Contains(c.Message, part) {
				return fmt.Errorf("%q is not in %q", part, c.Message)
			}
		}
		return nil
	})
}

func TestAppliedFollowsTheKustomizations(t *testing.T) {
	s := newScenario(t, "applied", catalogOf("applied"), nil)
	s.awaitApplied("applied-a", "applied-b", "applied-c")
	s.awaitAppliedCondition("True Succeeded", "1 of 1 Kustomizations")

	t.Run("a consumer that fails on the revision is named with its message", func(*testing.T) {
		_, _, ks, err := s.live(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		// Without rights, the Kustomization cannot apply the new revision.
		s.update(ks, func() {
			ks.Spec.ServiceAccountName = "nobody"
			ks.Spec.RetryInterval = &metav1.Duration{Duration: time.Second}
		})
		s.upgrade("v2", valued(catalogOf("applied"), "second"))
		s.awaitNoted("v2")
		s.awaitAppliedCondition("False ApplyFailed", "Kustomization applied/applied", "forbidden")
		s.update(ks, func() { ks.Spec.ServiceAccountName = "" })
		s.awaitAppliedCondition("True Succeeded")
	})
	t.Run("a suspended one is named", func(*testing.T) {
		_, _, ks, err := s.live(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		s.update(ks, func() { ks.Spec.Suspend = true })
		s.upgrade("v3", valued(catalogOf("applied"), "third"))
		s.awaitNoted("v3")
		s.awaitAppliedCondition("False Suspended", "applied/applied")
		s.update(ks, func() { ks.Spec.Suspend = false })
		cs := s.awaitAppliedCondition("True Succeeded")
		if c := cs.Status.Consumers; len(c) != 1 || c[0].Revision != cs.Status.Artifact.Revision || c[0].Remote {
			s.t.Errorf("consumers are %+v", c)
		}
	})
	t.Run("without any there is nobody to ask", func(*testing.T) {
		_, _, ks, err := s.live(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		s.remove(ks)
		s.awaitAppliedCondition("Unknown NoConsumer")
	})
}

// awaitNoted waits until the published revision was rendered from the tag.
func (s *scenario) awaitNoted(tag string) {
	s.t.Helper()
	s.awaitSelection("rendered from "+tag, func(cs *v1alpha1.CatalogSelection) error {
		if len(cs.Status.Sources) != 1 || !strings.HasPrefix(cs.Status.Sources[0].Revision, tag+"@") {
			return fmt.Errorf("sources are %+v", cs.Status.Sources)
		}
		return nil
	})
}

// TestAppliedNamesTheFeatureGate starts a system of its own, whose kustomize-controller has default
// flags.
func TestAppliedNamesTheFeatureGate(t *testing.T) {
	useOwnSystem(t, "--feature-gates=ExternalArtifact=false")
	s := newScenario(t, "gate", catalogOf("gate"), nil)
	s.awaitAppliedCondition("False FeatureGateDisabled", "gate/gate", "--feature-gates=ExternalArtifact=true")
}

// For a tenant's selection, Winnow sets marks as the account of the tenant.
func TestATenantMarksOnlyWhatItMayChange(t *testing.T) {
	if err := system.ApplyKustomization(t.Context(), "config/tenants"); err != nil {
		t.Fatal(err)
	}
	s := newScenario(t, "tenant", catalogOf("tenant"), func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.ServiceAccountName = "tenant"
	})
	s.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: "tenant"}})
	s.awaitApplied("tenant-a", "tenant-b", "tenant-c")
	s.label(s.t.Context(), "tenant-a", v1alpha1.BypassLabel, "true")
	s.await("said so", func(ctx context.Context) error {
		if s.eventCounts(ctx)[v1alpha1.MarksForbiddenReason] != 1 {
			return fmt.Errorf("events are %v", s.eventCounts(ctx))
		}
		return nil
	})
	if got := s.get(s.t.Context(), definitionOf("tenant-a")).GetAnnotations()[reconcileAnnotation]; got != "" {
		t.Fatalf("marked %q without the right", got)
	}

	key := metav1.ObjectMeta{Name: "winnow-e2e-tenant"}
	role := &rbacv1.ClusterRole{ObjectMeta: key, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"apps.kubermatic.k8c.io"}, Resources: []string{"applicationdefinitions"},
		ResourceNames: []string{"tenant-a"}, Verbs: []string{"patch"},
	}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: key, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: key.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "tenant", Namespace: "tenant"}},
	}
	s.create(role)
	s.create(binding)
	t.Cleanup(func() { s.remove(binding, role) })
	s.awaitMarkAfterNudges("tenant-a")
}

// awaitMarkAfterNudges edits a label until the mark is set: neither the controller nor the authorizer
// observes a new right.
func (s *scenario) awaitMarkAfterNudges(name string) {
	s.t.Helper()
	nudge := 0
	s.await("marked with the right", func(ctx context.Context) error {
		nudge++
		s.label(ctx, name, "nudge", fmt.Sprint(nudge))
		if got := s.get(ctx, definitionOf(name)).GetAnnotations()[reconcileAnnotation]; got != "disabled" {
			return fmt.Errorf("the mark is %q", got)
		}
		return nil
	})
}

// The policies set the mark in the request that sets the label, and remove it in the one that removes the
// label, and the controller accepts both.
func TestTheAdmissionPolicyClosesTheWindow(t *testing.T) {
	s := newScenario(t, "window", catalogOf("window"), nil)
	s.awaitApplied("window-a", "window-b", "window-c")
	if err := system.ApplyKustomization(t.Context(), "config/policies/bypass"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.removePolicies)
	if err := system.controller.Stop(); err != nil {
		t.Fatal(err)
	}
	// Without the controller, only the policy can have set it. It takes effect after a moment.
	s.await("marked at admission", func(ctx context.Context) error {
		s.label(ctx, "window-a", v1alpha1.BypassLabel, nil)
		s.label(ctx, "window-a", v1alpha1.BypassLabel, "true")
		if got := s.get(ctx, definitionOf("window-a")).GetAnnotations()[reconcileAnnotation]; got != "disabled" {
			return fmt.Errorf("the mark is %q", got)
		}
		return nil
	})
	if err := system.restart(t.Context(), stack.ControllerOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitSelection("counts the bypassed", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Summary.Bypassed != 1 {
			return fmt.Errorf("summary %+v", cs.Status.Summary)
		}
		return nil
	})
	s.unbypass("window-a")
	s.awaitSelection("counts none", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Summary.Bypassed != 0 {
			return fmt.Errorf("summary %+v", cs.Status.Summary)
		}
		return nil
	})
	if left := s.get(s.t.Context(), definitionOf("window-a")).GetAnnotations()[v1alpha1.BypassMarkAnnotation]; left != "" {
		t.Errorf("left behind: %q", left)
	}
}

func (s *scenario) removePolicies() {
	s.t.Helper()
	for _, name := range []string{"winnow-bypass-mark", "winnow-bypass-unmark"} {
		key := metav1.ObjectMeta{Name: name}
		s.remove(&admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: key}, &admissionv1.MutatingAdmissionPolicy{ObjectMeta: key})
	}
}
