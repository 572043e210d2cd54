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

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// While another selection may take over an object that leaves, the artifact has a placeholder of it: Flux keeps the object
// in the inventory, and neither changes nor deletes it. Once no other selection may, Flux deletes it.
func TestAPlaceholderKeepsAnObjectAsItIs(t *testing.T) {
	e := newEstate(t, "placed", catalogOf("placed"))
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	before := e.awaitParts(part{"apps", "apps", []string{"placed-a", "placed-b", "placed-c"}})
	objects, err := e.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	later := strings.Replace(e.selecting("later", limitedTo("placed-b")), "sources: [{name: placed}]", "sources: [{name: none}]", 1)
	e.commit([]string{e.selecting("apps", "exclude: [placed-b]"), later})
	cs := e.of("apps").awaitSelection("keeps an object", func(cs *v1alpha1.CatalogSelection) error {
		applied := conditions.IsTrue(cs, v1alpha1.AppliedCondition) && conditions.IsReady(cs)
		if !applied || !conditions.IsTrue(cs, v1alpha1.KeptCondition) || cs.Status.ObservedGeneration != cs.Generation {
			return fmt.Errorf("the conditions are %+v", cs.Status.Conditions)
		}
		return nil
	})
	if message := conditions.GetMessage(cs, v1alpha1.KeptCondition); !strings.Contains(message, "placed-b") || !strings.Contains(message, "placed/later") {
		t.Errorf("Kept says %q", message)
	}
	e.assertSameObjects(before, e.uids())
	now, err := e.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is, was := now["placed-b"], objects["placed-b"]
	if is.GetGeneration() != was.GetGeneration() || !equality.Semantic.DeepEqual(is.Object["spec"], was.Object["spec"]) ||
		!equality.Semantic.DeepEqual(is.GetLabels(), was.GetLabels()) {
		t.Errorf("the placeholder has changed the object: %+v, was %+v", is.Object, was.Object)
	}
	if !inventoryHas(t, e, "placed-b") {
		t.Error("Flux has forgotten the object")
	}

	e.commit(nil, e.selectionOf("later"))
	e.await("deleted", func(ctx context.Context) error {
		live, err := e.definitions(ctx)
		if _, lives := live["placed-b"]; err != nil || lives {
			return errors.Join(err, errors.New("placed-b lives"))
		}
		return nil
	})
	e.awaitParts(part{"apps", "apps", []string{"placed-a", "placed-c"}})
}

func inventoryHas(t *testing.T, e *estate, name string) bool {
	t.Helper()
	ks := e.kustomizationOf("apps")
	if err := system.Client().Get(t.Context(), keyOf(ks), ks); err != nil {
		t.Fatal(err)
	}
	return ks.Status.Inventory != nil && slices.ContainsFunc(ks.Status.Inventory.Entries, func(r kustomizev1.ResourceRef) bool { return strings.HasPrefix(r.ID, "_"+name+"_") })
}
