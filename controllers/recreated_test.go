// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// recreate deletes the selection with all that it has, and applies the same YAML.
func (c *liveCluster) recreate() {
	c.Helper()
	old := c.get("kkp")
	c.remove(old)
	if _, err := c.tryReconcile("kkp"); err != nil {
		c.Fatal(err)
	}
	if artifact := c.announced("kkp"); artifact != nil {
		c.Fatal("the ExternalArtifact is there")
	}
	again := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: old.Name, Namespace: old.Namespace}, Spec: old.Spec}
	if err := apiServer.Create(c.Context(), again); err != nil {
		c.Fatal(err)
	}
}

// Nothing was reconciled between the deletion and the creation, so the archive and the ExternalArtifact of before are there.
func TestASelectionThatIsReplacedAtOnceIsComparedWithTheFormerOne(t *testing.T) {
	for name, lose := range map[string]func(*liveCluster){
		"nothing is collected":              func(*liveCluster) {},
		"the ExternalArtifact is collected": func(c *liveCluster) { c.remove(c.announced("kkp")) },
		"the archive is lost":               func(c *liveCluster) { c.emptyStorage() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.catalog("argocd", "nginx")
			c.selection("kkp", compared, guarded)
			c.consumer("kkp", "kkp", pruning)
			c.settle("kkp")
			c.flux("kkp", "kkp", "argocd", "nginx")
			c.settle("kkp")
			c.ready("kkp")
			old := c.get("kkp")

			c.remove(old)
			again := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: old.Name, Namespace: old.Namespace}, Spec: old.Spec}
			if err := apiServer.Create(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			lose(c)
			c.catalog("argocd")
			cs := c.reconcile("kkp")
			if cs.Status.Held == nil || len(cs.Status.Held.Approve) == 0 {
				t.Fatalf("nothing is held: %v", conditionsOf(cs))
			}
			if served := c.announced("kkp"); served != nil && served.Status.Artifact != nil && served.Status.Artifact.Revision != old.Status.Artifact.Revision {
				t.Errorf("%s is served", served.Status.Artifact.Revision)
			}
			c.catalog("argocd", "nginx")
			c.settle("kkp")
			c.ready("kkp")
			c.equal("revision", c.get("kkp").Status.Artifact.Revision, old.Status.Artifact.Revision)
		})
	}
}

// Which lines the former selection has used is not known: those of the spec count as used, and later ones as new.
func TestAUsedLineReleasesNothingOfANewSelection(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("kkp", compared, guarded)
	c.consumer("kkp", "kkp", pruning)
	c.settle("kkp")
	c.flux("kkp", "kkp", "argocd", "nginx")
	c.settle("kkp")
	c.edit(approving("nginx", "nginx:live"))
	c.settle("kkp")
	c.ready("kkp")

	c.recreate()
	c.catalog("argocd")
	cs := c.reconcile("kkp")
	c.equal("lost", lost(cs), []string{"Removal nginx"})
	c.equal("used", used(cs), []string{"nginx", "nginx:live"})
	c.equal("approve", cs.Status.Held.Approve, []string{"nginx:live#2"})
	c.approveHeld()
	c.settle("kkp")
	c.ready("kkp")
	c.equal("used in the end", used(c.get("kkp")), []string{"nginx", "nginx:live", "nginx:live#2"})
}
