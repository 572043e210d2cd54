package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// applied plays kustomize-controller: it writes definitions with the owner labels of a Kustomization,
// and its inventory. What leaves the inventory is deleted where Flux would delete it.
func (c *liveCluster) flux(kustomization, selection string, names ...string) {
	c.Helper()
	var entries []kustomizev1.ResourceRef
	kept := map[string]bool{}
	for _, name := range names {
		kept[name] = true
		c.apply(selection, name)
		c.own(kustomization, name)
		entries = append(entries, kustomizev1.ResourceRef{ID: fmt.Sprintf("_%s_%s_ApplicationDefinition", name, c.group), Version: "v1"})
	}
	ks := c.kustomization(kustomization)
	if ks.Status.Inventory != nil && ks.Spec.Prune {
		for _, entry := range ks.Status.Inventory.Entries {
			c.prune(kustomization, strings.Split(entry.ID, "_")[1], kept)
		}
	}
	revision := "main@sha1:1234"
	if ks.Spec.SourceRef.Kind == sourcev1.ExternalArtifactKind {
		revision = revisionOf(c.get(ks.Spec.SourceRef.Name))
	}
	c.reports(kustomization, revision)
	c.report(kustomization, func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: append([]kustomizev1.ResourceRef{}, entries...)}
		now := time.Now()
		ks.Status.History = meta.History{{
			Digest: "sha256:1234", FirstReconciled: metav1.NewTime(now), LastReconciled: metav1.NewTime(now),
			LastReconciledDuration: metav1.Duration{Duration: time.Second}, LastReconciledStatus: meta.ReconciliationSucceededReason, TotalReconciliations: 1,
		}}
	})
}

// prune deletes a definition as Flux does: only its own, and nothing that is marked.
func (c *liveCluster) prune(kustomization, name string, kept map[string]bool) {
	c.Helper()
	u := c.live(name)
	if kept[name] || u == nil || u.GetLabels()["kustomize.toolkit.fluxcd.io/name"] != kustomization {
		return
	}
	if u.GetAnnotations()[pruneAnnotation] != disabled && u.GetAnnotations()[reconcileAnnotation] != disabled {
		c.remove(u)
	}
}

func pruning(ks *kustomizev1.Kustomization) { ks.Spec.Prune = true }

func gitFed(ks *kustomizev1.Kustomization) {
	ks.Spec.Prune, ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name = true, sourcev1.GitRepositoryKind, "repo"
}

func compared(cs *v1alpha1.CatalogSelection) { cs.Spec.Cluster.Serve = v1alpha1.ServeCompared }

// moving returns two selections of argocd and of nginx, which their Kustomizations have applied.
func moving(t *testing.T) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco")
	c.selection("alpha", compared, without("nginx", "falco"))
	c.selection("beta", compared, without("argocd", "falco"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", "argocd")
	c.flux("beta", "beta", "nginx")
	c.settle("alpha", "beta")
	c.ready("alpha", "beta")
	return c
}

// rounds reconciles selections as often as they may need to agree.
func (c *liveCluster) rounds(names ...string) {
	c.Helper()
	for range 4 {
		c.settle(names...)
	}
}

func (c *liveCluster) ready(names ...string) {
	c.Helper()
	for _, name := range names {
		c.equal("conditions of "+name, conditionsOf(c.get(name)), []string{"Ready=True Succeeded"})
	}
}

// kept lists the marks of a definition that keep Flux from deleting it.
func (c *liveCluster) kept(name string) string {
	c.Helper()
	u := c.live(name)
	if u == nil {
		return "gone"
	}
	return u.GetAnnotations()[pruneAnnotation]
}

func (c *liveCluster) message(name string) string {
	c.Helper()
	return conditions.GetMessage(c.get(name), meta.ReadyCondition)
}

func TestWhatMovesIsNotDeleted(t *testing.T) {
	c := moving(t)
	uid := c.live("argocd").GetUID()
	c.change("alpha", without("argocd", "nginx", "falco"))
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnEmpty = v1alpha1.SafeguardPublish })
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.equal("kept", c.kept("argocd"), disabled)
	c.flux("alpha", "alpha")
	c.rounds("alpha", "beta")
	c.equal("kept while nobody has applied it", c.kept("argocd"), disabled)
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.equal("kept once it was applied", c.kept("argocd"), "")
	if got := c.live("argocd").GetUID(); got != uid {
		t.Errorf("it is another object: %s, not %s", got, uid)
	}
}

func TestASwapHappensTogether(t *testing.T) {
	for _, first := range []string{"alpha", "beta"} {
		t.Run(first+" is looked at first", func(t *testing.T) {
			c := moving(t)
			c.change("alpha", without("argocd", "falco"))
			c.change("beta", without("nginx", "falco"))
			second := map[string]string{"alpha": "beta", "beta": "alpha"}[first]
			c.rounds(first, second)
			c.ready("alpha", "beta")
			c.equal("kept", []string{c.kept("argocd"), c.kept("nginx")}, []string{disabled, disabled})
			c.flux(first, first, map[string]string{"alpha": "nginx", "beta": "argocd"}[first])
			c.rounds("alpha", "beta")
			c.flux(second, second, map[string]string{"alpha": "nginx", "beta": "argocd"}[second])
			c.rounds("alpha", "beta")
			c.ready("alpha", "beta")
			c.equal("kept at the end", []string{c.kept("argocd"), c.kept("nginx")}, []string{"", ""})
		})
	}
}

// TestAMarkStaysWhileAnotherInventoryHasTheObject: its Kustomization may be on its way with what it had.
func TestAMarkStaysWhileAnotherInventoryHasTheObject(t *testing.T) {
	c := moving(t)
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) {
		without("argocd", "nginx")(cs)
	})
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.equal("kept while the giver has it", c.kept("argocd"), disabled)
	c.flux("alpha", "alpha", "falco")
	c.rounds("alpha", "beta")
	c.equal("kept afterwards", c.kept("argocd"), "")
}

func TestWithoutTheRightToMarkTheGiverWaits(t *testing.T) {
	c := moving(t)
	c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations())
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	c.ready("beta")
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.flux("alpha", "alpha", "falco")
	c.equal("the definition", c.live("argocd") != nil, true)
}

func TestWhoHoldsWhatLives(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup func(c *liveCluster)
		want  []string
		says  string
	}{
		{"a Kustomization of Git", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "argocd")
		}, stalled("Conflict"), "/git of the GitRepository repo holds argocd as well"},
		{"one that has let it go", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "argocd")
			c.report("git", func(ks *kustomizev1.Kustomization) { ks.Status.Inventory.Entries = []kustomizev1.ResourceRef{} })
		}, []string{"Ready=True Succeeded"}, ""},
		{"one that is gone", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "argocd")
			c.remove(c.kustomization("git"))
		}, []string{"Ready=True Succeeded"}, ""},
		{"one that acts elsewhere", func(c *liveCluster) {
			c.consumer("git", "", gitFed, remotely)
			c.flux("git", "other", "argocd")
		}, []string{"Ready=True Succeeded"}, ""},
		{"one under another name, by a prefix", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "pre-argocd")
			ks := c.kustomization("beta")
			ks.Spec.NamePrefix = "pre-"
			if err := apiServer.Update(c.Context(), ks); err != nil {
				c.Fatal(err)
			}
		}, stalled("Conflict"), "/git of the GitRepository repo holds pre-argocd as well"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.catalog("argocd")
			c.selection("beta", compared)
			c.consumer("beta", "beta", pruning)
			test.setup(c)
			c.settle("beta")
			c.equal("conditions", conditionsOf(c.get("beta")), test.want)
			if got := c.message("beta"); !strings.Contains(got, test.says) {
				t.Errorf("the message is %q", got)
			}
		})
	}
}

// TestAKustomizationThatDoesNotApplyBlocksNobodyForEver: only what lives is held by what Flux wrote on it.
func TestAKustomizationThatDoesNotApplyBlocksNobodyForEver(t *testing.T) {
	for _, test := range []struct {
		name string
		then func(c *liveCluster)
		want []string
	}{
		{"for a while it does", func(*liveCluster) {}, stalled("Conflict")},
		{"not after ten minutes", func(c *liveCluster) { c.passed += 11 * time.Minute }, []string{"Ready=True Succeeded"}},
		{"not once it failed", func(c *liveCluster) {
			c.report("alpha", func(ks *kustomizev1.Kustomization) { ks.Status.LastAttemptedRevision = revisionOf(c.get("alpha")) })
			c.fails("alpha")
		}, []string{"Ready=True Succeeded"}},
		{"but it does once it has applied", func(c *liveCluster) {
			c.flux("alpha", "alpha", "argocd")
			c.passed += 11 * time.Minute
		}, stalled("Conflict")},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.catalog("argocd")
			c.selection("alpha", compared)
			c.selection("beta", compared)
			c.consumer("alpha", "alpha", pruning)
			c.consumer("beta", "beta", pruning)
			c.settle("alpha", "beta")
			c.equal("conditions before", conditionsOf(c.get("beta")), stalled("Conflict"))
			test.then(c)
			c.settle("beta")
			c.equal("conditions", conditionsOf(c.get("beta")), test.want)
			if test.want[0] != "Ready=True Succeeded" {
				return
			}
			c.settle("alpha", "beta", "alpha")
			c.ready("alpha") // nobody loses what is served because of what does not live
			c.flux("beta", "beta", "argocd")
			c.settle("alpha", "beta", "alpha", "beta")
			c.equal("conditions of the one that lost it", conditionsOf(c.get("alpha")), stalled("Conflict"))
			c.equal("its artifact", c.announced("alpha").Status.Artifact == nil, true)
			c.equal("the other one's artifact", c.announced("beta").Status.Artifact != nil, true)
		})
	}
}

// TestOfTwoThatServeOneObjectTheHolderGoesOn: so it is after an upgrade, and when a Kustomization of Git
// takes an object.
func TestOfTwoThatServeOneObjectTheHolderGoesOn(t *testing.T) {
	c := moving(t)
	c.consumer("git", "", gitFed)
	c.flux("git", "other", "argocd")
	c.settle("alpha")
	cs := c.get("alpha")
	c.equal("conditions", conditionsOf(cs), stalled("Conflict"))
	c.equal("withheld", cs.Status.Withheld, "Conflict")
	announced := c.announced("alpha")
	c.equal("the artifact", announced.Status.Artifact == nil, true)
	c.equal("Ready of the ExternalArtifact", conditions.GetReason(announced, meta.ReadyCondition), "Conflict")
	c.settle("alpha")
	c.restart()
	c.settle("alpha")
	c.equal("the selection after a restart", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.equal("the artifact after a restart", c.announced("alpha").Status.Artifact == nil, true)
	c.flux("git", "other")
	c.rounds("alpha")
	c.ready("alpha")
	c.equal("the artifact once it is let go", c.announced("alpha").Status.Artifact != nil, true)
}

// TestOfTwoThatWaitOneGetsWhatIsGivenUp: that which asked first.
func TestOfTwoThatWaitOneGetsWhatIsGivenUp(t *testing.T) {
	c := moving(t)
	c.selection("gamma", compared, without("argocd", "nginx"))
	c.consumer("gamma", "gamma", pruning)
	c.settle("gamma")
	c.flux("gamma", "gamma", "falco")
	c.change("beta", without("falco"))
	c.change("gamma", without("nginx"))
	c.rounds("beta", "gamma")
	c.equal("conditions of the first", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.equal("conditions of the second", conditionsOf(c.get("gamma")), stalled("Conflict"))
	c.change("alpha", without("argocd", "nginx", "falco"))
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnEmpty = v1alpha1.SafeguardPublish })
	c.rounds("alpha", "gamma", "beta")
	c.ready("alpha", "beta")
	c.equal("conditions of the second at the end", conditionsOf(c.get("gamma")), stalled("Conflict"))
	c.equal("what it served before", c.announced("gamma").Status.Artifact != nil, true)
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "gamma", "beta")
	c.equal("conditions of the second once it is applied", conditionsOf(c.get("gamma")), stalled("Conflict"))
}

// TestWhoHasPublishedNothingGivesNothingUp: its Kustomization has what was published under another name.
func TestWhoHasPublishedNothingGivesNothingUp(t *testing.T) {
	c := moving(t)
	c.selection("new", compared, guarded, without("nginx", "argocd"))
	ks := c.kustomization("alpha")
	ks.Spec.SourceRef.Name = "new"
	if err := apiServer.Update(c.Context(), ks); err != nil {
		t.Fatal(err)
	}
	c.remove(c.get("alpha"))
	c.reconciled("alpha")
	c.rounds("new")
	c.equal("conditions of the new one", conditionsOf(c.get("new")), stalledHold("Removal"))
	c.change("beta", without("falco"))
	c.rounds("beta", "new", "beta")
	c.equal("conditions of the other one", conditionsOf(c.get("beta")), stalled("Conflict"))
}

func TestASuspendedSelectionKeepsWhatItHolds(t *testing.T) {
	c := moving(t)
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	c.restart()
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.equal("conditions", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// TestWhatAnInventoryHasIsNoOrphan: the labels of what Flux has applied are not touched.
func TestWhatAnInventoryHasIsNoOrphan(t *testing.T) {
	c := publishing(t)
	c.edit(labelling)
	c.applies("apps")
	c.consumer("git", "", gitFed)
	c.flux("git", "other", "falco")
	c.create("zeta")
	c.rounds("kkp")
	c.equal("marks of what is applied by Git", c.marks("falco"), []string{"label winnow", "label NAMESPACE", "label other"})
	c.equal("marks of what nobody has applied", c.marks("zeta"), []string{"unmanaged true by winnow-marks"})
}
