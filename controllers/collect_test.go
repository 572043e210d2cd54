// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"os"
	"testing"

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

func TestTheFinalizerStaysUntilAllIsGone(t *testing.T) {
	for _, write := range []string{"delete ExternalArtifact", "patch CatalogSelection"} {
		t.Run("while it fails to "+write, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			cs := e.selection("kkp")
			e.publish("kkp")
			e.remove(cs)
			e.traffic.before = failing(write)
			if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("finalizers", e.get("kkp").Finalizers, []string{v1alpha1.CatalogSelectionFinalizer})
			e.traffic.before = nil
			if _, err := e.tryReconcile("kkp"); err != nil {
				t.Errorf("Reconcile() = %v", err)
			}
			if e.exists(cs) || e.announced("kkp") != nil || len(e.archiveFiles()) > 0 {
				t.Error("something is left")
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
