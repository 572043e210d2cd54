// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A tenant has six selections whose publication does not end. The upgrade of the platform is published all the same, and
// those of the tenant are once they can be.
func TestExpensiveSelectionsOfANamespaceStopNoOther(t *testing.T) {
	tenant, platform := newEnvironment(t), newEnvironment(t)
	tenant.source(applications(t, "argocd"))
	platform.source(applications(t, "argocd"))
	platform.selection("kkp")
	arrived, end := make(chan struct{}, 100), make(chan struct{})
	tenant.traffic.before = func(write string, object client.Object) error {
		cs, ok := object.(*v1alpha1.CatalogSelection)
		if !ok || cs.Namespace != tenant.namespace || write != "patch CatalogSelection/status" || cs.Status.Artifact == nil {
			return nil
		}
		arrived <- struct{}{}
		select {
		case <-end:
		case <-t.Context().Done():
		}
		return t.Context().Err()
	}
	runManager(tenant, platform)
	platform.await("the first publication", time.Minute, revisionIsNot(""))
	first := platform.get("kkp").Status.Artifact.Revision

	names := strings.Fields("a b c d e f")
	for _, name := range names {
		tenant.selection(name)
	}
	<-arrived
	<-arrived
	platform.source(applications(t, "argocd nginx"))
	took := platform.await("the upgrade of the platform", 20*time.Second, revisionIsNot(first))
	t.Logf("the upgrade of the platform took %s beside %d selections of a tenant that do not end", took, len(names))

	message := "waits for one of 2 renders at a time in namespace " + tenant.namespace
	tenant.until("four selections report that they wait", time.Minute, func() bool {
		waiting := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return conditions.GetMessage(tenant.get(name), meta.ReconcilingCondition) != message
		})
		return len(waiting) == 4
	})
	if n := len(arrived); n > 0 {
		t.Errorf("%d selections of the tenant are published at a time, want 2", 2+n)
	}
	close(end)
	tenant.until("all selections of the tenant are published", 20*time.Second, func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !conditions.IsReady(tenant.get(name)) })
	})
}

// newTaken returns an environment with a published selection "kkp" and its upgrade, whose namespace has no slot left. The
// function returned frees it.
func newTaken(t *testing.T) (e *environment, free func()) {
	e = newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	if err := e.reconciler.slots.take(e.key("other")); err != nil {
		t.Fatal(err)
	}
	return e, func() { e.reconciler.slots.leave(e.Context(), e.key("other")) }
}

// enqueued returns the names of the selections that were enqueued.
func (e *environment) enqueued() []string {
	var names []string
	for {
		select {
		case enqueued := <-e.reconciler.enqueued:
			names = append(names, enqueued.Object.GetName())
		default:
			return names
		}
	}
}

func (e *environment) places() string {
	e.reconciler.slots.mu.Lock()
	defer e.reconciler.slots.mu.Unlock()
	var places []string
	for _, p := range e.reconciler.slots.lines[e.namespace] {
		places = append(places, p.selection.Name)
	}
	return fmt.Sprint(places, len(e.reconciler.slots.lines))
}

// While another selection of the namespace is rendered, what is published already needs no slot, and what does not
// is not reported before it takes long. What was downloaded meanwhile is not downloaded again.
func TestASelectionThatWaitsForASlot(t *testing.T) {
	e, free := newTaken(t)
	e.publish("kkp")
	e.equal("places", e.places(), "[other] 1")

	free()
	e.restartWith(func(o *Options) { o.CatalogCacheBytes = 0 })
	e.publish("kkp")
	before := e.get("kkp")
	e.sources.Downloads()
	e.source(applications(t, "argocd nginx"))
	if _, err := e.reconciler.Reconcile(e.context(), requestOf(e.key("kkp"))); err != nil {
		t.Fatal(err)
	}
	if err := e.reconciler.slots.take(e.key("other")); err != nil {
		t.Fatal(err)
	}
	waits := func(passes, next time.Duration) *v1alpha1.CatalogSelection {
		e.pass(passes)
		result, err := e.tryReconcile("kkp")
		if err != nil || result.RequeueAfter != next {
			t.Errorf("after %s, the next attempt is in %s, want %s, %v", passes, result.RequeueAfter, next, err)
		}
		return e.get("kkp")
	}
	e.equal("the selection", waits(0, slotPatience), before) // the download has ended
	e.equal("the selection after a while", waits(time.Minute, slotPatience-time.Minute), before)
	cs := waits(slotPatience-time.Minute, slotPatience)
	e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded", "Reconciling=True Progressing"})
	e.equal("the message", conditions.GetMessage(cs, meta.ReconcilingCondition), "waits for one of 1 renders at a time in namespace "+e.namespace)
	e.equal("enqueued", e.enqueued(), []string(nil))

	free()
	e.equal("enqueued", e.enqueued(), []string{"kkp"})
	cs, _ = e.publish("kkp")
	if n := e.sources.Downloads(); !revisionIsNot(before.Status.Artifact.Revision)(cs) || n != 1 {
		t.Errorf("published %s after %d downloads", cs.Status.Artifact.Revision, n)
	}
	e.equal("places", e.places(), "[] 0")
}

// A selection that does not wait any more, whatever the cause, leaves its place, also one with a slot already.
func TestWhoeverNeedsNoSlotLeavesTheLine(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(*environment)
	}{
		{"suspended", func(e *environment) { e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true }) }},
		{"deleted", func(e *environment) { e.remove(e.get("kkp")) }},
		{"without a source", func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "missing" })
		}},
		{"invalid", func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{Expression: "("} })
		}},
		{"gone from the shard", func(e *environment) { e.depart() }},
		{"a panic", func(e *environment) {
			e.traffic.replaceReads(func(client.ObjectKey, client.Object) (bool, error) { panic("a bug") })
		}},
	} {
		for _, hasSlot := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, with a slot: %t", test.name, hasSlot), func(t *testing.T) {
				e, free := newTaken(t)
				e.source(applications(t, "argocd nginx"))
				e.reconcile("kkp")
				if err := e.reconciler.slots.take(e.key("third")); !isWaiting(err) {
					t.Errorf("take() = %v", err)
				}
				e.reconciler.slots.leave(e.Context(), e.key("third"))
				e.equal("places", e.places(), "[other kkp third] 1")
				if hasSlot {
					free()
				}
				e.enqueued()
				test.end(e)
				func() {
					defer func() { _ = recover() }()
					_, _ = e.tryReconcile("kkp")
				}()
				if hasSlot {
					e.equal("places", e.places(), "[third] 1")
					e.equal("enqueued", e.enqueued(), []string{"third"})
					return
				}
				e.equal("places", e.places(), "[other third] 1")
				e.equal("enqueued", e.enqueued(), []string(nil))
			})
		}
	}
}
