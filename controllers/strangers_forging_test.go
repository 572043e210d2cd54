// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/artifact/storage"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
)

// inventoryOf writes an inventory of definitions, which the Kustomization never applied.
func (c *liveCluster) inventoryOf(kustomization string, names ...string) {
	c.Helper()
	c.report(kustomization, func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{}}
		for _, name := range names {
			ks.Status.Inventory.Entries = append(ks.Status.Inventory.Entries, kustomizev1.ResourceRef{ID: "_" + name + "_" + c.group + "_ApplicationDefinition", Version: "v1"})
		}
	})
}

// A tenant writes definitions of the platform into the inventory of a Kustomization of its own: the mark of a move stays, and
// prevents no removal.
func TestAForgedInventoryPreventsNoRemoval(t *testing.T) {
	for forged, mark := range map[bool]string{false: "", true: disabled} {
		t.Run(fmt.Sprintf("forged %t", forged), func(t *testing.T) {
			c := moving(t)
			n := c.neighbor()
			if forged {
				n.consumer("mine", "none", pruning)
				n.inventoryOf("mine", "argocd")
			}
			c.handOver()
			c.flux("alpha", "alpha", "falco")
			c.settle("alpha")
			c.flux("beta", "beta", "argocd", "nginx")
			c.pass(time.Hour)
			c.rounds("alpha", "beta")
			c.equal("the mark once the move is finished", c.kept("argocd"), mark)
			c.change("beta", without("argocd", "falco"))
			for range 3 {
				c.pass(11 * time.Minute)
				c.settle("beta", "alpha")
			}
			c.flux("beta", "beta", "nginx")
			c.equal("what the platform removes later", c.kept("argocd"), "gone")
		})
	}
}

// A tenant that deletes and creates its selection without end delays a removal no longer than one that edits it.
func TestAStrangerThatIsCreatedAgainAndAgain(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	tenant := func() {
		n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	}
	tenant()
	c.change("alpha", without("argocd", "nginx"))
	for _, minute := range minutes() {
		c.clock.Store(int64(minute * time.Minute))
		c.reconcileBoth(n)
		c.fluxAlpha()
		n.remove(n.get("tenant"))
		tenant()
	}
	c.equal("the definition that the platform removes", c.kept("argocd"), "gone")
	c.ready("alpha")
}

// The record of a tenant's selection claims to have published what the platform is about to publish.
func TestAForgedRecordReservesNothingForLong(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	n.catalog("tempo")
	n.selection("tenant", compared)
	n.consumer("tenant", "tenant", pruning)
	n.settle("tenant")
	forge := func() {
		cs := n.get("tenant")
		r, err := record.Read(cs)
		if err != nil {
			t.Fatal(err)
		}
		more := r.Definitions[0]
		more.Name = "loki"
		r.Definitions = append(r.Definitions, more)
		if cs.Status.WrittenRecord, err = r.Pack(); err != nil {
			t.Fatal(err)
		}
		if err := apiServer.Status().Update(t.Context(), cs); err != nil {
			t.Fatal(err)
		}
	}
	forge()
	c.restart()
	n.reconciler = c.reconciler
	_, _ = n.tryReconcile("tenant")
	c.catalog("argocd", "nginx", "falco", "loki")
	for range 3 {
		forge()
		_, _ = n.tryReconcile("tenant")
		c.settle("alpha")
		c.pass(6 * time.Minute)
	}
	c.ready("alpha")
	if !strings.Contains(c.publishedByAlpha(), "loki") {
		t.Errorf("alpha publishes %s", c.publishedByAlpha())
	}
}

// A tenant writes paths of other selections into the statuses of its own objects.
func TestAForgedPathReachesNoOtherSelection(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	e.selection("victim", guarded)
	victim, _ := e.publish("victim")
	e.storage.ArtifactRetentionTTL, e.storage.ArtifactRetentionRecords = 1, 1
	other := filepath.Join(e.archiveDir("victim"), strings.Repeat("0", 64)+".tar.gz")
	if err := os.WriteFile(other, []byte("an archive that is kept for readers"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := func() []string { names, _ := filepath.Glob(e.archiveDir("victim") + "/*"); return names }
	before := files()
	for name, forge := range map[string]func(){
		"the status of the selection": func() {
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { s.Artifact.Path = victim.Status.Artifact.Path })
		},
		"the status of the ExternalArtifact": func() {
			announced := e.announced("kkp")
			name := strings.TrimSuffix(filepath.Base(victim.Status.Artifact.Path), ".tar.gz")
			announced.Status.Artifact.Revision = "latest@sha256:../" + "victim/" + name
			announced.Status.Artifact.Path = filepath.Join(storage.ArtifactDir(sourcev1.ExternalArtifactKind, e.namespace, "victim"), name+".tar.gz")
			if err := apiServer.Status().Update(t.Context(), announced); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e.restart()
			forge()
			_, _ = e.tryReconcile("kkp")
			e.source(applications(t, "argocd nginx"))
			_, _ = e.tryReconcile("kkp")
			_, _ = e.tryReconcile("kkp")
			if after := files(); !slices.Equal(before, after) {
				t.Errorf("the archives of the other selection were %v, and are %v", before, after)
			}
			if cs, announced := e.get("kkp"), e.announced("kkp"); announced.Status.Artifact != nil && cs.Status.Held == nil &&
				!strings.Contains(announced.Status.Artifact.Path, "/kkp/") {
				t.Errorf("%s is announced", announced.Status.Artifact.Path)
			}
		})
	}
}

// The directories of the storage of selections that live here are kept by a process that begins to lead, whatever they announce.
func TestWhoBeginsToLeadKeepsTheArchivesOfLivingSelections(t *testing.T) {
	for name, withhold := range map[string]func(e *environment){
		"in a conflict": func(e *environment) {
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { s.Withheld = v1alpha1.ConflictReason })
			announced := e.announced("kkp")
			announced.Status.Artifact = nil
			if err := apiServer.Status().Update(e.Context(), announced); err != nil {
				e.Fatal(err)
			}
		},
		"without an ExternalArtifact": func(e *environment) { e.remove(e.announced("kkp")) },
		"suspended": func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
			e.remove(e.announced("kkp"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := publishGuarded(t, "argocd")
			withhold(e)
			for _, odd := range []string{"a*", "a?b", "..x", "UPPER"} {
				if err := os.MkdirAll(filepath.Join(filepath.Dir(e.archiveDir("kkp")), odd), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			before := e.archiveFiles()
			e.restart()
			e.setArtifact("OCIRepository", e.key("catalog"), nil)
			if err := e.reconciler.enqueueStored(e.Context()); err != nil {
				t.Fatal(err)
			}
			for len(e.reconciler.enqueued) > 0 {
				_, _ = e.tryReconcile((<-e.reconciler.enqueued).Object.GetName())
			}
			if after := e.archiveFiles(); len(before) == 0 || !slices.Equal(before, after) {
				t.Errorf("the archives were %v, and are %v", before, after)
			}
		})
	}
}
