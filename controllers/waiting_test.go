// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/metrics"
)

// lackingSlot returns a published selection with a new revision, which waits for a slot of its namespace.
func lackingSlot(t *testing.T) *liveCluster {
	t.Helper()
	c := publishing(t)
	if err := c.reconciler.slots.take(c.key("other")); err != nil {
		t.Fatal(err)
	}
	c.source(applications(t, "argocd nginx falco"))
	c.reconcile("kkp")
	return c
}

// What an attempt has found is in no status if its write fails. The next one must not take it for reported.
func TestAReportThatFailsIsRepeatedWhileWaitingForASlot(t *testing.T) {
	for name, failure := range map[string]error{
		"another process has written": apierrors.NewConflict(schema.GroupResource{Resource: "catalogselections"}, "kkp", errors.New("changed")),
		"the API server fails":        apierrors.NewInternalError(errors.New("down")),
	} {
		t.Run(name, func(t *testing.T) {
			c := lackingSlot(t)
			c.fails("apps")
			c.awaitEnqueued("kkp")
			failed := false
			c.traffic.before = func(write string, _ client.Object) error {
				if write != "patch CatalogSelection/status" || failed {
					return nil
				}
				failed = true
				return failure
			}
			_, _ = c.tryReconcile("kkp")
			c.equal("failed", failed, true)
			c.equal("Applied", conditions.IsFalse(c.reconcile("kkp"), v1alpha1.AppliedCondition), true)
		})
	}
}

func TestASourceThatFailsIsReportedWhileWaitingForASlot(t *testing.T) {
	c := lackingSlot(t)
	c.setReady("OCIRepository", c.key("catalog"), metav1.ConditionFalse, "AuthenticationFailed", secretNotFound)
	c.equal("SourceReady", c.sourceReady(c.reconcile("kkp")), "False AuthenticationFailed: source OCIRepository catalog: "+secretNotFound)
	c.setReady("OCIRepository", c.key("catalog"), metav1.ConditionTrue, "Succeeded", "stored artifact")
	c.equal("SourceReady", c.sourceReady(c.reconcile("kkp")), everySourceIsReady)
}

func TestASelectionThatWaitsForASlotIsMeasuredAsBehind(t *testing.T) {
	own, err := metrics.New(prometheus.NewRegistry(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c := publishing(t)
	c.restartWith(func(o *Options) { o.Metrics = own })
	c.actAs(restConfig, "")
	c.look()
	if err := c.reconciler.slots.take(c.key("other")); err != nil {
		t.Fatal(err)
	}
	c.source(applications(t, "argocd nginx falco"))
	c.reconcile("kkp")
	if since := own.Selections.Of(c.key("kkp")).BehindSince; since.IsZero() {
		t.Error("the selection is not behind")
	}
}

func TestWhatCannotWaitIsDoneWhileWaitingForASlot(t *testing.T) {
	c := lackingSlot(t)
	requested := c.get("kkp")
	before := requested.DeepCopy()
	requested.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"}
	if err := apiServer.Patch(t.Context(), requested, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	c.equal("the request", c.reconcile("kkp").Status.GetLastHandledReconcileRequest(), "now")
	c.remove(c.announced("kkp"))
	c.reconcile("kkp")
	c.equal("the ExternalArtifact", c.announced("kkp").Status.Artifact, before.Status.Artifact)
	c.consumer("more", "kkp")
	c.awaitEnqueued("kkp")
	c.equal("consumers", len(c.reconcile("kkp").Status.Consumers), 2)
	c.emptyStorage()
	c.reconcile("kkp")
	c.reconciler.slots.leave(t.Context(), c.key("other"))
	c.awaitEnqueued("kkp")
	c.equal("published", c.reconcile("kkp").Status.Artifact.Revision != before.Status.Artifact.Revision, true)
}
