// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const reconcileAnnotation = "kustomize.toolkit.fluxcd.io/reconcile"

// definitionOf returns an ApplicationDefinition without a spec.
func definitionOf(name string) *unstructured.Unstructured {
	d := &unstructured.Unstructured{}
	d.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps.kubermatic.k8c.io", Version: "v1", Kind: "ApplicationDefinition"})
	d.SetName(name)
	return d
}

// bypass labels a live definition as an admin would, and waits for the mark.
func (s *scenario) bypass(name string) {
	s.t.Helper()
	s.label(s.t.Context(), name, v1alpha1.BypassLabel, "true")
	s.awaitMark(name, "disabled")
}

// unbypass removes the label, and waits until the mark is removed.
func (s *scenario) unbypass(name string) {
	s.t.Helper()
	s.label(s.t.Context(), name, v1alpha1.BypassLabel, nil)
	s.awaitMark(name, "")
}

// label sets a label of a live definition, or removes it.
func (s *scenario) label(ctx context.Context, name, key string, value any) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, jsonOf(value))
	s.patchDefinition(ctx, name, patch)
}

func (s *scenario) annotate(ctx context.Context, name, key string, value any) {
	s.t.Helper()
	s.patchDefinition(ctx, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, jsonOf(value)))
}

func jsonOf(value any) string {
	if value == nil {
		return "null"
	}
	return fmt.Sprintf("%q", value)
}

func (s *scenario) patchDefinition(ctx context.Context, name, patch string) {
	s.t.Helper()
	err := system.Client().Patch(ctx, definitionOf(name), client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner("kubectl-label"))
	if err != nil {
		s.t.Fatalf("patching %s: %v", name, err)
	}
}

func (s *scenario) awaitMark(name, want string) {
	s.t.Helper()
	s.await(fmt.Sprintf("the mark of %s is %q", name, want), func(ctx context.Context) error {
		d := definitionOf(name)
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
			return err
		}
		if got := d.GetAnnotations()[reconcileAnnotation]; got != want {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// note returns the values of a live definition, empty if it does not exist.
func (s *scenario) note(ctx context.Context, name string) string {
	s.t.Helper()
	d := definitionOf(name)
	err := system.Client().Get(ctx, client.ObjectKeyFromObject(d), d)
	if client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
	values, _, _ := unstructured.NestedString(d.Object, "spec", "defaultValuesBlock")
	return values
}

// awaitSettled waits until the Kustomization has applied the published revision.
func (s *scenario) awaitSettled() {
	s.t.Helper()
	s.await("settled", func(ctx context.Context) error {
		cs, ea, ks, err := s.live(ctx)
		if err != nil {
			return err
		}
		if cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs) {
			return fmt.Errorf("selection not ready: %+v", cs.Status.Conditions)
		}
		if ea.Status.Artifact.Revision != cs.Status.Artifact.Revision || ks.Status.LastAppliedRevision != cs.Status.Artifact.Revision ||
			!conditions.IsReady(ks) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition) {
			return errors.New("not applied")
		}
		return nil
	})
}

// awaitNote waits for the values of a live definition.
func (s *scenario) awaitNote(name, want string) {
	s.t.Helper()
	s.await(name+" has "+want, func(ctx context.Context) error {
		if got := s.note(ctx, name); !strings.Contains(got, want) {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
}

// definitions maps the names of the scenario's live ApplicationDefinitions to the objects.
func (s *scenario) definitions(ctx context.Context) (map[string]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps.kubermatic.k8c.io", Version: "v1", Kind: "ApplicationDefinitionList"})
	if err := system.Client().List(ctx, list); err != nil {
		return nil, err
	}
	found := map[string]unstructured.Unstructured{}
	for _, item := range list.Items {
		if strings.HasPrefix(item.GetName(), s.name+"-") {
			found[item.GetName()] = item
		}
	}
	return found, nil
}
