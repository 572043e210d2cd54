// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const (
	statusPatch   = "patch CatalogSelection/status"
	artifactPatch = "patch ExternalArtifact/status"
)

// Each case goes on from the state of the one before.
func TestTheWritesOfAReconciliation(t *testing.T) {
	c := newCluster(t)
	c.consumer("apps", "kkp")
	c.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"velero"} })
	for _, test := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"the source has no artifact yet", func() {}, []string{statusPatch}},
		{"the first artifact, whose Ready comes after the ExternalArtifact", func() { c.catalog("argocd") },
			[]string{statusPatch, statusPatch, "create ExternalArtifact", artifactPatch, statusPatch}}, // one for the claim
		{"nothing has changed", func() {}, nil},
		{"Flux has applied it", func() { c.applies("apps") }, []string{statusPatch}},
		{"a new revision that adds an object", func() { c.catalog("argocd", "nginx") }, []string{statusPatch, statusPatch, artifactPatch}},
		{"nothing has changed since the new revision", func() {}, nil},
		{"Flux has applied the new revision", func() { c.applies("apps") }, []string{statusPatch}},
		{"one more revision that does", func() { c.catalog("argocd", "nginx", "falco") }, []string{statusPatch, statusPatch, artifactPatch}},
		{"a revision that changes nothing that is selected", func() { c.catalog("argocd", "nginx", "falco", "velero") },
			[]string{statusPatch, artifactPatch}},
		{"the process begins anew", c.restart, nil},
		{"a revision for the new process, which gives up an object", func() { c.catalog("argocd", "nginx") },
			[]string{statusPatch, statusPatch, artifactPatch}},
		{"an edit of the spec, whose Ready comes after the ExternalArtifact", func() {
			c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"nginx"} })
		}, []string{statusPatch, statusPatch, artifactPatch, statusPatch}},
	} {
		test.change()
		c.traffic.taken()
		c.look()
		c.equal(test.name, c.traffic.taken(), test.want)
		c.look()
		c.equal("a repetition of: "+test.name, c.traffic.taken(), []string(nil))
	}
}

// A new revision whose ExternalArtifact cannot be written is not Ready, and the reason is reported.
func TestAnEarlyReportIsTakenBack(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	first, _ := e.publish("kkp")
	e.source(applications(t, "argocd nginx"))
	e.traffic.before = func(write string, _ client.Object) error {
		if write == artifactPatch {
			return errDead
		}
		return nil
	}
	if _, err := e.tryReconcile("kkp"); err == nil {
		t.Error("Reconcile() succeeds")
	}
	e.equal("conditions", conditionsOf(e.get("kkp")), []string{"Ready=False StorageFailed", "Reconciling=True ProgressingWithRetry"})
	e.equal("revision", e.announced("kkp").Status.Artifact.Revision, first.Status.Artifact.Revision)
	e.traffic.before = nil
	e.publish("kkp")
}

// The patch that commits a new revision has the conditions of its end, and no Ready of a spec whose artifact is not announced.
func TestReadyIsReportedEarlyOnlyForTheSameSpec(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(e *environment)
		want   string
	}{
		{"a new revision", func(e *environment) {
			e.source(applications(e.T, "argocd nginx falco"))
		}, "True: published 3 of 3 applications"},
		{"an edit of the spec", func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"nginx"} })
		}, "True: published 2 of 2 applications of an earlier generation"},
		{"a selection that was not Ready", func(e *environment) {
			cs := e.get("kkp")
			conditions.MarkFalse(cs, meta.ReadyCondition, v1alpha1.FetchFailedReason, "unreachable")
			if err := apiServer.Status().Update(e.Context(), cs); err != nil {
				e.Fatal(err)
			}
			e.source(applications(e.T, "argocd nginx falco"))
		}, "False: unreachable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd nginx"))
			e.selection("kkp")
			e.publish("kkp")
			test.change(e)
			e.traffic.before = crashAt(artifactPatch)
			_, _ = e.tryReconcile("kkp")
			e.traffic.before = nil
			e.equal("Ready after a crash", describeReady(e.get("kkp")), test.want)
			e.restart()
			e.publish("kkp")
		})
	}
}

// describeReady returns the status of Ready, and its message up to the revision.
func describeReady(cs *v1alpha1.CatalogSelection) string {
	ready := conditions.Get(cs, meta.ReadyCondition)
	message, _, _ := strings.Cut(ready.Message, ",")
	if ready.ObservedGeneration != cs.Generation {
		message += " of an earlier generation"
	}
	return string(ready.Status) + ": " + message
}

// What this process has written is no reason to reconcile again. Everything else is.
func TestWhichEventsOfExternalArtifactsCount(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*sourcev1.ExternalArtifact)
		want bool
	}{
		{"the one that was announced", func(*sourcev1.ExternalArtifact) {}, false},
		{"a label of others", func(ea *sourcev1.ExternalArtifact) { ea.Labels["team"] = "platform" }, false},
		{"without the label", func(ea *sourcev1.ExternalArtifact) { ea.Labels = nil }, true},
		{"without an artifact", func(ea *sourcev1.ExternalArtifact) { ea.Status.Artifact = nil }, true},
		{"another revision", func(ea *sourcev1.ExternalArtifact) { ea.Status.Artifact.Revision = "latest@sha256:1234" }, true},
		{"another URL", func(ea *sourcev1.ExternalArtifact) {
			ea.Status.Artifact.URL = "http://elsewhere.example/archive.tar.gz"
		}, true},
		{"another condition", func(ea *sourcev1.ExternalArtifact) { ea.Status.Conditions = nil }, true},
		{"another source", func(ea *sourcev1.ExternalArtifact) { ea.Spec.SourceRef.Name = "other" }, true},
		{"without the owner", func(ea *sourcev1.ExternalArtifact) { ea.OwnerReferences = nil }, true},
		{"another owner", func(ea *sourcev1.ExternalArtifact) { ea.OwnerReferences[0].UID = "1234" }, true},
		{"about to be deleted", func(ea *sourcev1.ExternalArtifact) {
			ea.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
		}, true},
		{"of another selection", func(ea *sourcev1.ExternalArtifact) { ea.Name = "other" }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			_, before := e.publish("kkp")
			after := before.DeepCopy()
			test.edit(after)
			events := e.reconciler.editedByOthers(e.Context())
			e.equal("an update", events.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}), test.want)
			e.equal("a creation", events.Create(event.CreateEvent{Object: after}), test.want)
			e.equal("a deletion", events.Delete(event.DeleteEvent{Object: after}), true)
			e.restart()
			e.equal("that of a new process", e.reconciler.editedByOthers(e.Context()).Create(event.CreateEvent{Object: before}), true)
		})
	}
}

// The selection of another shard is the business of that shard, unless this one has archives of it.
func TestEventsOfTheExternalArtifactsOfOtherShards(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(e *environment, cs *v1alpha1.CatalogSelection)
		want bool
	}{
		{"of another shard", func(e *environment, cs *v1alpha1.CatalogSelection) {
			e.depart()
			if err := e.reconciler.artifacts.RemoveAll(cs); err != nil {
				e.Fatal(err)
			}
		}, false},
		{"of another shard, with archives here", func(e *environment, _ *v1alpha1.CatalogSelection) { e.depart() }, true},
		{"of this shard", func(*environment, *v1alpha1.CatalogSelection) {}, true},
		{"of a selection that is gone", func(e *environment, cs *v1alpha1.CatalogSelection) {
			e.remove(cs)
			e.awaitClaims(e.Context())
			if err := e.reconciler.artifacts.RemoveAll(cs); err != nil {
				e.Fatal(err)
			}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			cs, announced := e.publish("kkp")
			announced.Status.Artifact.Revision = "latest@sha256:1234"
			test.edit(e, cs)
			events := e.reconciler.editedByOthers(e.Context())
			e.equal("a creation", events.Create(event.CreateEvent{Object: announced}), test.want)
			e.equal("an update", events.Update(event.UpdateEvent{ObjectOld: announced, ObjectNew: announced}), test.want)
			e.equal("a deletion", events.Delete(event.DeleteEvent{Object: announced}), test.want)
		})
	}
}

// A selection that is Ready reports a download only once it takes long.
func TestAShortDownloadIsNotReported(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	e.source(applications(t, "argocd nginx"))
	e.traffic.taken()
	for _, test := range []struct {
		passes time.Duration
		want   []string
	}{{0, nil}, {loadPatience, nil}, {loadRetry, []string{statusPatch}}} {
		e.pass(test.passes)
		if _, err := e.reconciler.Reconcile(e.context(), requestOf(e.key("kkp"))); err != nil {
			t.Fatal(err)
		}
		e.equal(fmt.Sprintf("writes after %s", time.Duration(e.clock.Load())), e.traffic.taken(), test.want)
	}
	e.equal("conditions", conditionsOf(e.get("kkp")), []string{"Ready=True Succeeded", "Reconciling=True Progressing"})
	e.publish("kkp")
}
