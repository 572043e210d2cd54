// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// twice publishes argocd, calls between, and publishes argocd and nginx, which the Kustomization "kkp" has applied. It returns
// the first publication.
func twice(t *testing.T, between func(*liveCluster)) (*liveCluster, *v1alpha1.CatalogSelection) {
	t.Helper()
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp", compared, guarded)
	c.consumer("kkp", "kkp", pruning)
	c.settle("kkp")
	c.flux("kkp", "kkp", "argocd")
	c.settle("kkp")
	between(c)
	first := c.get("kkp")
	c.catalog("argocd", "nginx")
	c.settle("kkp")
	c.flux("kkp", "kkp", "argocd", "nginx")
	c.settle("kkp")
	c.ready("kkp")
	return c, first
}

// dropArchive removes the archive of a revision from the storage.
func (e *environment) dropArchive(of *v1alpha1.CatalogSelection) {
	e.Helper()
	if err := os.Remove(filepath.Join(e.archiveDir("kkp"), filepath.Base(of.Status.Artifact.Path))); err != nil {
		e.Fatal(err)
	}
}

// unannounced expects that the ExternalArtifact does not name a revision.
func (e *environment) unannounced(of *v1alpha1.CatalogSelection) {
	e.Helper()
	if announced := e.announced("kkp"); announced != nil && announced.Status.Artifact != nil && announced.Status.Artifact.Revision == of.Status.Artifact.Revision {
		e.Error("the older revision is announced: Flux deletes what the newer one has added")
	}
}

// The storage is of the same time as the restored status, as that of another pod, or a volume that was restored with it. The
// ExternalArtifact names nothing, as a restore leaves out its status. Only the consumers know that something newer was applied.
func TestARestoredStatusWithTheStorageOfItsTime(t *testing.T) {
	for _, test := range []struct {
		name  string
		loses func(c *liveCluster)
		knows func(ks *kustomizev1.Kustomization)
	}{
		{"the ExternalArtifact is gone", func(c *liveCluster) { c.remove(c.announced("kkp")) }, nil},
		{"the ExternalArtifact has no status", func(c *liveCluster) {
			announced := c.announced("kkp")
			announced.Status.Artifact, announced.Status.Conditions = nil, nil
			if err := apiServer.Status().Update(c.Context(), announced); err != nil {
				c.Fatal(err)
			}
		}, nil},
		{"the Kustomization has applied a part of the newer one", func(c *liveCluster) { c.remove(c.announced("kkp")) }, func(ks *kustomizev1.Kustomization) {
			ks.Status.LastAppliedRevision = ""
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, first := twice(t, func(*liveCluster) {})
			if test.knows != nil {
				c.report("kkp", test.knows)
			}
			c.dropArchive(c.get("kkp"))
			test.loses(c)
			c.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { first.Status.DeepCopyInto(s) })
			c.restart()
			c.setArtifact("OCIRepository", c.key("catalog"), nil)
			for range 2 {
				_, _ = c.tryReconcile("kkp")
				c.unannounced(first)
			}
			c.catalog("argocd")
			c.settle("kkp")
			c.equal("lost", lost(c.get("kkp")), []string{"Removal nginx"})
			c.unannounced(first)
		})
	}
}

// ahead makes the last publication one of a process whose clock is ahead.
func (e *environment) ahead(by time.Duration) {
	e.Helper()
	announced := e.announced("kkp")
	later := metav1.NewTime(announced.Status.Artifact.LastUpdateTime.Add(by))
	announced.Status.Artifact.LastUpdateTime = later
	if err := apiServer.Status().Update(e.Context(), announced); err != nil {
		e.Fatal(err)
	}
	e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { s.Artifact.LastUpdateTime = later })
}

// A revision was published once more after the status was written, by a process whose clock is half a minute behind.
func TestARestoredStatusAndAClockThatIsBehind(t *testing.T) {
	e, first := publishGuarded(t, "argocd nginx")
	e.source(applications(t, "argocd nginx falco"))
	e.good()
	e.ahead(30 * time.Second)
	second := e.get("kkp")
	content := applications(t, "argocd nginx")
	e.approve("falco")
	e.source(content)
	third := e.good()
	e.equal("the third", third.cs.Status.Artifact.Revision, first.cs.Status.Artifact.Revision)
	e.restore(second)
	e.setArtifact("OCIRepository", e.key("catalog"), nil)
	_, _ = e.tryReconcile("kkp")
	e.unannounced(second)
}

// The clock of the process that wrote the status was minutes ahead of the one that published after it.
func TestARestoredStatusOfAClockThatWasAhead(t *testing.T) {
	c, first := twice(t, func(c *liveCluster) { c.ahead(5 * time.Minute) })
	c.remove(c.announced("kkp"))
	c.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { first.Status.DeepCopyInto(s) })
	c.restart()
	c.setArtifact("OCIRepository", c.key("catalog"), nil)
	_, _ = c.tryReconcile("kkp")
	c.unannounced(first)
}

// A process crashed between two writes, and its clock is minutes behind the one that published before it. Nobody restored
// anything, so that the publication goes on.
func TestACrashOfAProcessWhoseClockIsBehind(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	e.ahead(5 * time.Minute)
	content := applications(t, "argocd")
	e.approve("nginx")
	e.source(content)
	e.traffic.before = crashAt("patch ExternalArtifact/status")
	if _, err := e.tryReconcile("kkp"); !errors.Is(err, errDead) {
		t.Errorf("Reconcile() = %v", err)
	}
	e.traffic.before = nil
	e.restart()
	cs := e.reconcile("kkp")
	e.equal("lost", lost(cs), []string(nil))
	e.equal("announced", e.announced("kkp").Status.Artifact.Revision, cs.Status.Artifact.Revision)
}

// A Kustomization of a remote cluster has attempted a revision and applied a part of it, as while a health check fails: it
// reports no applied revision, and its objects do not live here. Then the selection is deleted and created again.
func TestAUsedLineReleasesNothingThatAConsumerHasAttempted(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp", compared, guarded)
	c.consumer("kkp", "kkp", pruning, remotely)
	c.settle("kkp")
	c.edit(approving("nginx:live"))
	c.catalog("argocd", "nginx")
	c.settle("kkp")
	c.report("kkp", func(ks *kustomizev1.Kustomization) {
		ks.Status.LastAttemptedRevision, ks.Status.Inventory = consumers.RevisionOf(c.get("kkp")), &kustomizev1.ResourceInventory{}
		for _, name := range []string{"argocd", "nginx"} {
			ks.Status.Inventory.Entries = append(ks.Status.Inventory.Entries, kustomizev1.ResourceRef{ID: "_" + name + "_" + c.group + "_ApplicationDefinition", Version: "v1"})
		}
	})
	c.fails("kkp")
	c.settle("kkp")
	c.recreate()
	c.catalog("argocd")
	c.settle("kkp")
	cs := c.get("kkp")
	c.equal("lost", lost(cs), []string{"Removal nginx"})
	if cs.Status.Held != nil {
		c.equal("approve", cs.Status.Held.Approve, []string{"nginx:live#2"})
	}
}
