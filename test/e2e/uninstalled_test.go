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
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// uninstallTime bounds the deletion of the manifests. The namespace controller and the garbage collector need some seconds.
const uninstallTime = time.Minute

// The manifests are deleted while selections are there: no object waits for a controller, and what was applied lives on.
// The garbage collector and the namespace controller are those of Kubernetes.
func TestTheManifestsAreDeletedBeforeTheSelections(t *testing.T) {
	useOwnSystem(t)
	if _, err := system.StartCollector(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, manifests string
		prepare         func(*scenario)
	}{
		{"up", "config/default", (*scenario).deploy},
		{"down", withoutNamespace, func(s *scenario) {
			s.install()
			s.deploy()
			s.stopController()
		}},
		{"gone", withoutNamespace, func(s *scenario) {
			s.install()
			s.deploy()
			s.stopController()
			s.remove(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: stack.FluxNamespace, Name: stack.WinnowController}})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &scenario{t: t, name: "removed-" + test.name}
			test.prepare(s)
			before, err := s.definitions(t.Context())
			if err != nil || len(before) != 3 {
				t.Fatalf("%d definitions: %v", len(before), err)
			}
			start := time.Now()
			if err := system.DeleteKustomization(t.Context(), test.manifests, uninstallTime); err != nil {
				t.Fatal(err)
			}
			t.Logf("the manifests are gone after %s", time.Since(start).Round(time.Millisecond))
			s.deleteLeftovers()
			s.missArtifact()
			after, err := s.definitions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for name, object := range before {
				if now := after[name]; now.GetUID() != object.GetUID() || now.GetDeletionTimestamp() != nil {
					t.Errorf("%s was deleted", name)
				}
			}
		})
	}
	t.Run("with the finalizer of an earlier version", endsTheFinalizer)
}

// withoutNamespace is an installation into a namespace that others have made: the deletion of one takes 20 s.
const withoutNamespace = "config/overlays/flux-system"

// install installs Winnow into that namespace, and starts the controller.
func (s *scenario) install() {
	s.t.Helper()
	if err := system.ApplyKustomization(s.t.Context(), withoutNamespace); err != nil {
		s.t.Fatal(err)
	}
	if err := system.restart(s.t.Context(), stack.ControllerOptions{Namespace: stack.FluxNamespace}); err != nil {
		s.t.Fatal(err)
	}
}

// deploy publishes and applies a selection.
func (s *scenario) deploy() {
	s.t.Helper()
	s.selection = newScenario(s.t, s.name, catalogOf(s.name), nil).selection
	s.awaitApplied(s.name+"-a", s.name+"-b", s.name+"-c")
}

// deleteLeftovers follows the page. The garbage collector deletes the ExternalArtifact, unless it no longer knows the kind of
// its owner.
func (s *scenario) deleteLeftovers() {
	s.t.Helper()
	managed := client.MatchingLabels{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue}
	if err := system.Client().DeleteAllOf(s.t.Context(), &sourcev1.ExternalArtifact{}, client.InNamespace(s.name), managed); err != nil {
		s.t.Fatal(err)
	}
	s.awaitGone(s.t.Context(), &sourcev1.ExternalArtifact{ObjectMeta: s.metaOf(s.name)})
}

// missArtifact requests a reconciliation of the Kustomization, and waits until it has found no artifact.
func (s *scenario) missArtifact() {
	s.t.Helper()
	ks := &kustomizev1.Kustomization{ObjectMeta: s.metaOf(s.name)}
	s.update(ks, func() { ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "uninstalled"} })
	s.await("the artifact is missing", func(ctx context.Context) error {
		err := system.Client().Get(ctx, keyOf(ks), ks)
		if err != nil || ks.Status.LastHandledReconcileAt != "uninstalled" || conditions.GetReason(ks, meta.ReadyCondition) != meta.ArtifactFailedReason {
			return fmt.Errorf("the status is %+v: %w", ks.Status, err)
		}
		return nil
	})
}

func (s *scenario) stopController() {
	s.t.Helper()
	if err := system.controller.Stop(); err != nil {
		s.t.Fatal(err)
	}
}

// endsTheFinalizer follows the page for what hangs.
func endsTheFinalizer(t *testing.T) {
	s := &scenario{t: t, name: "removed-finalizer"}
	s.create(namespace(s.name))
	s.install()
	s.stopController()
	cs := &v1alpha1.CatalogSelection{ObjectMeta: s.metaOf(s.name)}
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "none"}}
	cs.Finalizers = []string{v1alpha1.CatalogSelectionFinalizer}
	s.create(cs)
	err := system.DeleteKustomization(t.Context(), withoutNamespace, 5*time.Second)
	if err == nil || !strings.Contains(err.Error(), "catalogselections.catalog.winnow.dev are gone") {
		t.Fatalf("nothing waits: %v", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := system.Client().Get(t.Context(), client.ObjectKey{Name: "catalogselections.catalog.winnow.dev"}, crd); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Terminating && c.Reason == "InstanceDeletionInProgress"
	}) {
		t.Errorf("the conditions of the definition are %+v", crd.Status.Conditions)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
	if err := system.Client().Patch(t.Context(), cs, patch); err != nil {
		t.Fatal(err)
	}
	s.await("the definition is gone", func(ctx context.Context) error {
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(crd), crd); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
}
