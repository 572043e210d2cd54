// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// The OperatorGroup of another owner is overwritten only once that is approved, and Flux never deletes one. An operator that
// moves to the other release of OLM is held, with what Flux does to the former object.
func TestOperatorsBesideOthers(t *testing.T) {
	for _, release := range []stack.OLM{stack.OLMv0(), stack.OLMv1()} {
		if err := system.InstallOLM(t.Context(), release); err != nil {
			t.Fatal(err)
		}
	}
	const byHand = `---
apiVersion: v1
kind: Namespace
metadata: {name: grove}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: grove, namespace: grove}
spec: {targetNamespaces: [elsewhere]}
`
	if err := system.Apply(t.Context(), []byte(byHand)); err != nil {
		t.Fatal(err)
	}
	o := newOperators(t, "beside", "instances: {pear: {application: plum, backend: Subscription, namespace: grove, catalog: {name: fruits, namespace: olm}}}")
	group := func() *unstructured.Unstructured {
		return o.liveOf("operators.coreos.com/v1", "OperatorGroup", "grove", "grove")
	}
	before := group()
	o.approveHeld("instance pear: the OperatorGroup grove/grove, which this selection has not applied, is for elsewhere, and would be for grove: ")
	targets := func() []string {
		found, _, _ := unstructured.NestedStringSlice(group().Object, "spec", "targetNamespaces")
		return found
	}
	if got := targets(); !slices.Equal(got, []string{"elsewhere", "grove"}) {
		t.Errorf("approved, the OperatorGroup is for %v", got)
	}

	// What is approved reaches it.
	o.pushCatalog("v2", packageOf("lemon", "1.1.0")+strings.Replace(plumPackage(), "OwnNamespace", "AllNamespaces", 1))
	o.follow("v2")
	o.approveHeld(`instance pear: targetNamespaces would change from "grove" to "all namespaces": the operators of the namespace would watch other namespaces`)
	if got := targets(); !slices.Equal(got, []string{"elsewhere"}) {
		t.Errorf("approved again, the OperatorGroup is for %v", got)
	}

	keeps := func(what string) {
		t.Helper()
		if got := group(); got == nil || got.GetUID() != before.GetUID() {
			t.Fatalf("%s: the OperatorGroup is %v", what, got)
		}
	}
	o.editInstance(func(in *v1alpha1.Instance) { in.CreateOperatorGroup = new(false) })
	o.awaitCurrent()
	keeps("createOperatorGroup: false")
	o.editInstance(func(in *v1alpha1.Instance) { in.CreateOperatorGroup = nil })
	o.awaitCurrent()

	o.editInstance(func(in *v1alpha1.Instance) { in.Backend = "ClusterExtension"; in.Catalog = nil })
	o.approveHeld(`instance pear: object would change from "Subscription.operators.coreos.com grove/pear" to "ClusterExtension.olm.operatorframework.io pear": ` +
		"what OLM v0 has installed runs on beside the new one, even if Flux deletes the Subscription")
	keeps("the last Subscription goes")
	if o.liveOf("operators.coreos.com/v1alpha1", "Subscription", "grove", "pear") != nil || o.liveOf("olm.operatorframework.io/v1", "ClusterExtension", "", "pear") == nil {
		t.Error("Flux has not replaced the Subscription")
	}

	// With deletionPolicy: Orphan, the ClusterExtension of an instance that goes stays, and keeps the next one out.
	o.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan })
	o.awaitCurrent()
	o.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		delete(spec.Instances, "pear")
		spec.Safeguards.Approve = append(spec.Safeguards.Approve, "Instance/pear")
	})
	o.awaitCurrent()
	left := o.liveOf("olm.operatorframework.io/v1", "ClusterExtension", "", "pear")
	if left == nil {
		t.Fatal("Flux has deleted the ClusterExtension")
	}
	defer o.remove(left)
	o.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Instances = map[string]v1alpha1.Instance{"pear": {
			Application: "plum", Backend: "Subscription", Namespace: "grove", Catalog: &v1alpha1.CatalogReference{Namespace: "olm", Name: "fruits"},
		}}
	})
	o.awaitHolding("IdentityChange pear: instance pear: the cluster has ClusterExtension.olm.operatorframework.io pear, by which OLM installs the package")
}

// liveOf returns a live object, nil if it is gone.
func (o *operators) liveOf(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o.t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	err := system.Client().Get(o.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, live)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		o.t.Fatal(err)
	}
	return live
}

func (o *operators) editInstance(mutate func(*v1alpha1.Instance)) {
	o.t.Helper()
	o.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		in := spec.Instances["pear"]
		mutate(&in)
		spec.Instances["pear"] = in
	})
}

// approveHeld waits until a message that begins like this is the first one held, approves the render, and waits for it.
func (o *operators) approveHeld(message string) {
	o.t.Helper()
	var approve []string
	o.awaitSelection("held for "+message, func(cs *v1alpha1.CatalogSelection) error {
		if held := cs.Status.Held; held == nil || cs.Status.ObservedGeneration != cs.Generation || len(held.Reasons) == 0 || !strings.HasPrefix(held.Reasons[0].Message, message) {
			return fmt.Errorf("held is %+v, the conditions are %+v", held, cs.Status.Conditions)
		}
		approve = cs.Status.Held.Approve
		return nil
	})
	o.approve(approve...)
	o.awaitCurrent()
}

// awaitCurrent waits until the present spec is published and applied.
func (o *operators) awaitCurrent() {
	o.t.Helper()
	o.await("published and applied", func(ctx context.Context) error {
		cs, ea, ks, err := o.live(ctx)
		if err != nil {
			return err
		}
		of := cs.Status.Artifact
		if of == nil || cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs) || cs.Status.Held != nil ||
			ea.Status.Artifact == nil || ea.Status.Artifact.Revision != of.Revision || ks.Status.LastAppliedRevision != of.Revision {
			return fmt.Errorf("held is %+v, the conditions are %+v and %+v", cs.Status.Held, cs.Status.Conditions, ks.Status.Conditions)
		}
		return nil
	})
}
