// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

// Flux answers the reason Invalid with a deletion where spec.force is true. The policy refuses with Forbidden, and
// where the API server itself says Invalid, it refuses the deletion too.
func TestASpokeRefusesLosses(t *testing.T) {
	s := newBypassSpoke(t)
	if err := s.ApplyKustomization(t.Context(), "config/policies/spoke"); err != nil {
		t.Fatal(err)
	}
	velero := app{name: "velero", versions: []string{"1.0.0"}}
	s.push("v1", app{name: "argocd", versions: []string{"1.0.0", "1.1.0"}}, velero)
	s.awaitApplied("v1")
	if err := s.Client().Patch(t.Context(), s.applied, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"force":true}}`))); err != nil {
		t.Fatal(err)
	}
	s.await("the policy is in force", func(ctx context.Context) error {
		if err := s.Client().Delete(ctx, definitionOf("velero"), client.DryRunAll); !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("a deletion is not refused"), err)
		}
		return nil
	})
	argocd, kept := s.definition("argocd"), s.definition("velero")

	s.push("v2", app{name: "argocd", versions: []string{"1.1.0", "2.0.0"}}, app{name: "loki", versions: []string{"1.0.0"}})
	s.awaitReconciled("v2", "it would lose versions, which uninstalls software: to approve that, add the line argocd/1.0.0 to data.approve of the ConfigMap flux-system/winnow-approvals")
	s.assertUntouched(argocd, kept)
	s.assertGone("loki") // one object stops all

	s.approve("argocd/1.0.0")
	s.awaitReconciled("v2", "its deletion uninstalls software: to approve that, add the line velero to data.approve of the ConfigMap flux-system/winnow-approvals")
	s.assertVersions("argocd", argocd, "1.1.0", "2.0.0")
	s.assertUntouched(kept)
	s.approve("velero")
	s.awaitReconciled("v2", "")
	s.assertGone("velero")

	argocd = s.definition("argocd")
	approvals := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "winnow-approvals", Namespace: stack.FluxNamespace}}
	if err := s.Client().Delete(t.Context(), approvals); err != nil {
		t.Fatal(err)
	}
	s.push("v3", app{name: "argocd", versions: []string{"1.1.0", "2.0.0", "3.0.0"}}, app{name: "loki", versions: []string{"1.0.0"}})
	s.awaitReconciled("v3", "no params found")
	s.assertUntouched(argocd)
	if err := s.ApplyKustomization(t.Context(), "config/policies/spoke"); err != nil {
		t.Fatal(err)
	}
	s.awaitReconciled("v3", "")
	s.assertVersions("argocd", argocd, "1.1.0", "2.0.0", "3.0.0")
}

// approve changes the ConfigMap, as Flux does from another Kustomization.
func (s *bypassSpoke) approve(line string) {
	s.t.Helper()
	approvals := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "winnow-approvals", Namespace: stack.FluxNamespace}, Data: map[string]string{"approve": line}}
	if err := s.Client().Patch(s.t.Context(), approvals, client.Merge); err != nil {
		s.t.Fatal(err)
	}
}

// awaitReconciled requests reconciliations until Flux has applied a tag, or was refused with a message: the API server
// heeds a ConfigMap a moment after it has accepted it.
func (s *bypassSpoke) awaitReconciled(tag, message string) {
	s.t.Helper()
	requested := ""
	s.await(fmt.Sprintf("%s: %q", tag, message), func(ctx context.Context) error {
		if err := s.Client().Get(ctx, client.ObjectKeyFromObject(s.applied), s.applied); err != nil {
			return err
		}
		status := s.applied.Status
		if strings.HasPrefix(status.LastAttemptedRevision, tag+"@") && status.LastHandledReconcileAt == requested && requested != "" {
			if got := conditions.GetMessage(s.applied, meta.ReadyCondition); conditions.IsFalse(s.applied, meta.ReadyCondition) && message != "" && strings.Contains(got, message) {
				return nil
			}
			if conditions.IsReady(s.applied) && message == "" {
				return nil
			}
		}
		if status.LastHandledReconcileAt == requested || requested == "" {
			requested = time.Now().String()
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, requested)
			if err := s.Client().Patch(ctx, s.applied, client.RawPatch(types.MergePatchType, patch)); err != nil {
				return err
			}
		}
		return fmt.Errorf("attempted %s: %+v", status.LastAttemptedRevision, status.Conditions)
	})
}

// assertUntouched checks that nobody has written the definitions.
func (s *bypassSpoke) assertUntouched(before ...*unstructured.Unstructured) {
	s.t.Helper()
	for _, b := range before {
		if now := s.definition(b.GetName()); now.GetUID() != b.GetUID() || now.GetResourceVersion() != b.GetResourceVersion() {
			s.t.Errorf("%s was written: %v, before %v", b.GetName(), now, b)
		}
	}
}

// assertVersions checks that a definition has the versions, and is still the object of before.
func (s *bypassSpoke) assertVersions(name string, before *unstructured.Unstructured, want ...string) {
	s.t.Helper()
	now := s.definition(name)
	var got []string
	versions, _, _ := unstructured.NestedSlice(now.Object, "spec", "versions")
	for _, version := range versions {
		got = append(got, fmt.Sprint(version.(map[string]any)["version"]))
	}
	if !slices.Equal(got, want) || now.GetUID() != before.GetUID() {
		s.t.Errorf("%s is %s with the versions %v, want %s with %v", name, now.GetUID(), got, before.GetUID(), want)
	}
}
