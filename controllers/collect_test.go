// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"os"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func TestADeletedSelectionLeavesNothing(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(e *environment)
	}{
		{"that is published", func(*environment) {}},
		{"that is suspended", func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		}},
		{"whose source is gone", func(e *environment) { e.remove(newSource("OCIRepository", e.key("catalog"))) }},
		{"whose ExternalArtifact is gone", func(e *environment) { e.remove(e.announced("kkp")) }},
		{"whose archive is gone", (*environment).emptyStorage},
		{"after a restart", (*environment).restart},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			cs := e.selection("kkp")
			e.publish("kkp")
			e.selection("other")
			_, other := e.publish("other")
			test.before(e)
			e.remove(cs)
			if result, err := e.tryReconcile("kkp"); err != nil || !result.IsZero() {
				t.Errorf("Reconcile() = %v, %v", result, err)
			}
			if e.exists(cs) || e.announced("kkp") != nil {
				t.Error("something is left in the cluster")
			}
			if _, err := os.Stat(e.archiveDir("kkp")); !os.IsNotExist(err) {
				t.Errorf("the directory of the archives is left: %v", err)
			}
			e.equal("the other ExternalArtifact", e.announced("other"), other)
		})
	}
}

func TestAForeignExternalArtifactOutlivesTheSelection(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	cs := e.selection("kkp")
	foreign := e.foreignArtifact("kkp")
	e.reconcile("kkp")
	e.remove(cs)
	if _, err := e.tryReconcile("kkp"); err != nil {
		t.Errorf("Reconcile() = %v", err)
	}
	if e.exists(cs) {
		t.Error("the selection is still there")
	}
	e.equal("the foreign one", e.announced("kkp"), foreign)
}

// A selection has no finalizer, so it is gone before its ExternalArtifact.
func TestTheExternalArtifactOfADeletedSelectionIsDeletedLater(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	cs := e.selection("kkp")
	e.publish("kkp")
	e.remove(cs)
	if e.exists(cs) || e.announced("kkp") == nil {
		t.Fatal("the selection is there, or its ExternalArtifact is not")
	}
	e.traffic.before = failing("delete ExternalArtifact")
	if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
		t.Errorf("Reconcile() = %v", err)
	}
	e.traffic.before = nil
	if _, err := e.tryReconcile("kkp"); err != nil {
		t.Errorf("Reconcile() = %v", err)
	}
	if e.announced("kkp") != nil || len(e.archiveFiles()) > 0 {
		t.Error("something is left")
	}
}

// Earlier versions have set a finalizer.
func TestTheFinalizerOfEarlierVersionsIsRemoved(t *testing.T) {
	for name, prepare := range map[string]func(*environment, *v1alpha1.CatalogSelection){
		"of one that is published": func(*environment, *v1alpha1.CatalogSelection) {},
		"of one that is suspended": func(e *environment, _ *v1alpha1.CatalogSelection) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		},
		"of one that is being deleted": func(e *environment, cs *v1alpha1.CatalogSelection) { e.remove(cs) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			cs := e.selection("kkp")
			e.publish("kkp")
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Finalizers = []string{v1alpha1.CatalogSelectionFinalizer}
			})
			prepare(e, cs)
			e.traffic.before = failing("patch CatalogSelection")
			if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("finalizers", e.get("kkp").Finalizers, []string{v1alpha1.CatalogSelectionFinalizer})
			e.traffic.before = nil
			if _, err := e.tryReconcile("kkp"); err != nil {
				t.Errorf("Reconcile() = %v", err)
			}
			if e.exists(cs) && len(cs.Finalizers) > 0 {
				t.Errorf("the finalizers are %v", cs.Finalizers)
			}
			deleted := strings.HasSuffix(name, "deleted")
			if gone := e.announced("kkp") == nil; gone != deleted {
				t.Errorf("the ExternalArtifact is gone: %v", gone)
			}
		})
	}
}

func TestTheFinalizersOfOthersStay(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	cs := e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Finalizers = []string{"example.org/theirs"} })
	e.publish("kkp")
	e.remove(cs)
	for range 2 {
		if _, err := e.tryReconcile("kkp"); err != nil {
			t.Errorf("Reconcile() = %v", err)
		}
		e.equal("finalizers", e.get("kkp").Finalizers, []string{"example.org/theirs"})
		if e.announced("kkp") != nil {
			t.Error("the ExternalArtifact is there")
		}
	}
}

// What the garbage collector of Kubernetes would keep is kept.
func TestTheExternalArtifactOfNoDeletedSelectionStays(t *testing.T) {
	for name, change := range map[string]func(*sourcev1.ExternalArtifact){
		"without an owner":                        func(announced *sourcev1.ExternalArtifact) { announced.OwnerReferences = nil },
		"of another name":                         func(announced *sourcev1.ExternalArtifact) { announced.OwnerReferences[0].Name = "other" },
		"of another kind":                         func(announced *sourcev1.ExternalArtifact) { announced.OwnerReferences[0].Kind = "Other" },
		"in another storage":                      func(announced *sourcev1.ExternalArtifact) { announced.Status.Artifact.URL = "http://shard/x" },
		"of a selection that is not in the cache": nil,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			cs := e.selection("kkp")
			_, announced := e.publish("kkp")
			if change == nil {
				if _, err := e.reconciler.removeOwned(t.Context(), e.key("kkp")); err != nil {
					t.Error(err)
				}
				e.equal("the ExternalArtifact", e.announced("kkp"), announced)
				return
			}
			e.remove(cs)
			change(announced)
			if err := apiServer.Update(t.Context(), announced.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			status := e.announced("kkp")
			status.Status = announced.Status
			if err := apiServer.Status().Update(t.Context(), status); err != nil {
				t.Fatal(err)
			}
			if _, err := e.tryReconcile("kkp"); err != nil {
				t.Error(err)
			}
			if e.announced("kkp") == nil {
				t.Error("the ExternalArtifact is gone")
			}
		})
	}
}

func TestARecreatedSelectionIsPublishedAgain(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.remove(e.selection("kkp"))
	e.selection("kkp")
	first, _ := e.publish("kkp")
	e.remove(first)
	if _, err := e.tryReconcile("kkp"); err != nil {
		t.Fatal(err)
	}
	e.selection("kkp")
	second, _ := e.publish("kkp")
	if second.UID == first.UID || second.Status.Artifact.Digest != first.Status.Artifact.Digest {
		t.Errorf("the second has %v, the first had %v", second.Status.Artifact, first.Status.Artifact)
	}
}

// Consumers fetch the archive that the ExternalArtifact names, until it names the next one.
func TestTheArchiveThatIsAnnouncedIsNotCollected(t *testing.T) {
	e := newEnvironment(t)
	e.storage.ArtifactRetentionTTL = 0
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	_, announced := e.publish("kkp")
	e.source(applications(t, "argocd nginx"))
	e.traffic.before = failing("patch ExternalArtifact/status")
	for range 2 {
		if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
			t.Errorf("Reconcile() = %v", err)
		}
		if e.download(announced) == nil {
			t.Fatal("the archive that the ExternalArtifact names is gone")
		}
	}
	e.traffic.before = nil
	e.publish("kkp")
}

// A selection was deleted while this process did not lead, so nothing tells it of that.
func TestTheArchivesOfSelectionsThatAreGoneAreRemoved(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	gone := e.selection("kkp")
	e.publish("kkp")
	e.remove(gone)
	e.remove(e.announced("kkp"))
	e.selection("stays")
	e.publish("stays")
	runManager(e)
	e.until("the archives are removed", 20*time.Second, func() bool { return len(e.archiveFiles()) == 0 })
	if e.download(e.announced("stays")) == nil {
		t.Error("the archive of a selection that is there is gone")
	}
}
