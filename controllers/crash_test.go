// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

var errDead = errors.New("the process is dead")

// crashAt makes the named write, and all later ones, fail.
func crashAt(name string) func(string, client.Object) error {
	dead := false
	return func(write string, _ client.Object) error {
		if dead = dead || write == name; dead {
			return errDead
		}
		return nil
	}
}

func TestACrashNeverTakesARevisionBack(t *testing.T) {
	for _, write := range []string{"patch CatalogSelection/status", "patch ExternalArtifact/status"} {
		for _, later := range []struct {
			name  string
			cause func(e *environment)
		}{
			{"nothing else happens", func(*environment) {}},
			{"the artifact of the source is removed", func(e *environment) { e.setArtifact("OCIRepository", e.key("catalog"), nil) }},
			{"the storage is lost", (*environment).emptyStorage},
		} {
			t.Run(write+", then "+later.name, func(t *testing.T) {
				e := newEnvironment(t)
				e.source(applications(t, "argocd"))
				e.selection("kkp")
				first, _ := e.publish("kkp")
				second := e.source(applications(t, "argocd nginx"))
				e.traffic.before = crashAt(write)
				if _, err := e.tryReconcile("kkp"); !errors.Is(err, errDead) {
					t.Errorf("Reconcile() = %v", err)
				}
				later.cause(e)
				e.traffic.before = nil
				e.restart()
				e.reconcile("kkp")
				e.setArtifact("OCIRepository", e.key("catalog"), second)
				last, _ := e.publish("kkp")
				e.equal("revisions", e.traffic.revisions, []string{first.Status.Artifact.Revision, last.Status.Artifact.Revision})
			})
		}
	}
}

func TestARestartWithAnEmptyStoragePublishesTheSame(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd nginx"))
	e.selection("kkp")
	_, before := e.publish("kkp")
	e.emptyStorage()
	e.restart()
	_, after := e.publish("kkp")
	e.equal("the ExternalArtifact", essence(after), essence(before))
	e.equal("revisions", e.traffic.revisions, []string{before.Status.Artifact.Revision})
}

func TestARestartChangesNothing(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd nginx"))
	e.selection("kkp")
	cs, before := e.publish("kkp")
	e.events.take()
	e.traffic.taken()
	e.restart()
	again, after := e.publish("kkp")
	e.equal("the selection", again, cs)
	e.equal("the ExternalArtifact", after, before)
	e.equal("writes", e.traffic.taken(), []string(nil))
	e.equal("events", e.events.take(), []string(nil))
}

func TestAStaleCacheDoesNotBringAnOldArtifactBack(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	stale, _ := e.publish("kkp")
	e.source(applications(t, "argocd nginx"))
	current, announced := e.publish("kkp")
	e.traffic.taken()
	for name, old := range map[string]*v1alpha1.CatalogSelection{"of the first publication": stale, "of before": {ObjectMeta: stale.ObjectMeta, Spec: stale.Spec}} {
		t.Run("a copy "+name, func(t *testing.T) {
			e.traffic.replaceReads(func(_ client.ObjectKey, object client.Object) (bool, error) {
				cs, ok := object.(*v1alpha1.CatalogSelection)
				if ok {
					old.DeepCopyInto(cs)
				}
				return ok, nil
			})
			if _, err := e.tryReconcile("kkp"); err != nil {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("writes", e.traffic.taken(), []string(nil))
			e.equal("the selection", e.get("kkp"), current)
			e.equal("the ExternalArtifact", e.announced("kkp"), announced)
		})
	}
}

// The process must not write a stale copy that it cannot distinguish from the current one.
func TestAStaleSpecIsNotWritten(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd nginx"))
	e.selection("kkp")
	stale, _ := e.publish("kkp")
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"nginx"} })
	e.source(applications(t, "argocd nginx falco"))
	e.traffic.replaceReads(func(_ client.ObjectKey, object client.Object) (bool, error) {
		cs, ok := object.(*v1alpha1.CatalogSelection)
		if ok {
			stale.DeepCopyInto(cs)
		}
		return ok, nil
	})
	if result, err := e.tryReconcile("kkp"); err != nil || result.RequeueAfter != conflictDelay {
		t.Errorf("Reconcile() = %v, %v", result, err)
	}
	e.equal("revision", e.announced("kkp").Status.Artifact.Revision, stale.Status.Artifact.Revision)
	e.traffic.replaceReads(nil)
	cs, _ := e.publish("kkp")
	e.equal("summary", cs.Status.Summary, v1alpha1.Summary{Available: 3, Selected: 2, Excluded: 1})
	e.equal("revisions", e.traffic.revisions, []string{stale.Status.Artifact.Revision, cs.Status.Artifact.Revision})
}

// The cache may not have the ExternalArtifact yet that this controller has just created.
func TestAnExternalArtifactThatTheCacheLacksIsNotAnError(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	cs, announced := e.publish("kkp")
	e.traffic.replaceReads(func(key client.ObjectKey, object client.Object) (bool, error) {
		_, ok := object.(*sourcev1.ExternalArtifact)
		return ok, apierrors.NewNotFound(sourcev1.GroupVersion.WithResource("externalartifacts").GroupResource(), key.Name)
	})
	if result, err := e.tryReconcile("kkp"); err != nil || result.RequeueAfter != conflictDelay {
		t.Errorf("Reconcile() = %v, %v", result, err)
	}
	e.traffic.replaceReads(nil)
	e.equal("the selection", e.get("kkp"), cs)
	e.equal("the ExternalArtifact", e.announced("kkp"), announced)
}

// Ready means that the artifact of the ExternalArtifact is served.
func TestAnEmptySelectionIsNotReadyOnceItsArchiveIsLost(t *testing.T) {
	e := newEnvironment(t)
	source := e.source(applications(t, "argocd"))
	e.selection("kkp")
	_, announced := e.publish("kkp")
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd"}} })
	e.source(applications(t, "nginx"))
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Held=True Removal", "Ready=True Succeeded"})
	e.emptyStorage()
	e.sources.Handle("/"+source.Path, http.NotFound)
	e.restart()
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), stalledHold("Removal"))
	if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.Contains(message, "lost") {
		t.Errorf("the message does not say that the archive is lost: %s", message)
	}
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(announced))
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = nil })
	e.publish("kkp")
}

func TestAConflictIsNotAnError(t *testing.T) {
	for _, write := range []string{"patch CatalogSelection", "patch CatalogSelection/status"} {
		t.Run(write, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Finalizers = []string{v1alpha1.CatalogSelectionFinalizer} })
			e.traffic.before = func(name string, _ client.Object) error {
				if name == write {
					e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Annotations = map[string]string{"edited": "meanwhile"} })
				}
				return nil
			}
			if result, err := e.tryReconcile("kkp"); err != nil || result.RequeueAfter != conflictDelay {
				t.Errorf("Reconcile() = %v, %v", result, err)
			}
			if slices.Contains(e.traffic.taken(), write) {
				t.Error("the conflict was overwritten")
			}
			e.equal("events", e.events.take(), []string(nil))
			e.traffic.before = nil
			e.publish("kkp")
		})
	}
}

func TestAnErrorOfTheAPIServerIsNotTakenForAMissingSelection(t *testing.T) {
	e := newEnvironment(t)
	e.traffic.replaceReads(func(client.ObjectKey, client.Object) (bool, error) { return true, apierrors.NewInternalError(errDead) })
	if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
		t.Errorf("Reconcile() = %v", err)
	}
}
