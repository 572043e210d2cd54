// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

func TestASwapHappensTogether(t *testing.T) {
	for _, first := range []string{"alpha", "beta"} {
		t.Run(first+" is reconciled first", func(t *testing.T) {
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

func TestTheHolderOfALiveObject(t *testing.T) {
	for _, test := range []struct {
		name    string
		setup   func(c *liveCluster)
		want    []string
		message string
	}{
		{"a Kustomization of Git", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "argocd")
		}, stalled("Conflict"), "/git of the GitRepository repo holds argocd as well"},
		{"one without it in its inventory", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "argocd")
			c.report("git", func(ks *kustomizev1.Kustomization) { ks.Status.Inventory.Entries = []kustomizev1.ResourceRef{} })
		}, []string{"Ready=True Succeeded"}, ""},
		{"one that is gone", func(c *liveCluster) {
			c.consumer("git", "", gitFed)
			c.flux("git", "other", "argocd")
			c.remove(c.kustomization("git"))
		}, []string{"Ready=True Succeeded"}, ""},
		{"one that applies to another cluster", func(c *liveCluster) {
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
			if got := c.message("beta"); !strings.Contains(got, test.message) {
				t.Errorf("the message is %q", got)
			}
		})
	}
}

// A Kustomization holds an object by its owner labels only once the object is live.
func TestAKustomizationThatDoesNotApplyDoesNotBlockOthers(t *testing.T) {
	for _, test := range []struct {
		name string
		then func(c *liveCluster)
		want []string
	}{
		{"within ten minutes the reservation lasts", func(*liveCluster) {}, stalled("Conflict")},
		{"after ten minutes it is revoked", func(c *liveCluster) { c.pass(11 * time.Minute) }, []string{"Ready=True Succeeded"}},
		{"after a failure it is revoked", func(c *liveCluster) {
			c.report("alpha", func(ks *kustomizev1.Kustomization) {
				ks.Status.LastAttemptedRevision = consumers.RevisionOf(c.get("alpha"))
			})
			c.fails("alpha")
		}, []string{"Ready=True Succeeded"}},
		{"after a failure of a Kustomization of another namespace it lasts", func(c *liveCluster) {
			n := c.neighbor()
			n.consumer("stranger", "alpha", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace = c.namespace })
			n.report("stranger", func(ks *kustomizev1.Kustomization) {
				ks.Status.LastAttemptedRevision = consumers.RevisionOf(c.get("alpha"))
			})
			n.fails("stranger")
		}, stalled("Conflict")},
		{"before the artifact was fetched it lasts", func(c *liveCluster) {
			c.report("alpha", func(ks *kustomizev1.Kustomization) {
				ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, meta.ArtifactFailedReason, "artifact not found")}
			})
		}, stalled("Conflict")},
		{"after the apply it lasts", func(c *liveCluster) {
			c.flux("alpha", "alpha", "argocd")
			c.pass(11 * time.Minute)
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
			c.ready("alpha") // a claim of an object that is not live ends no publication
			c.flux("beta", "beta", "argocd")
			c.settle("alpha", "beta", "alpha", "beta")
			c.equal("conditions of the one that lost it", conditionsOf(c.get("alpha")), stalled("Conflict"))
			c.equal("its artifact", c.announced("alpha").Status.Artifact == nil, true)
			c.equal("the other one's artifact", c.announced("beta").Status.Artifact != nil, true)
		})
	}
}

// This happens after an upgrade, and when a Kustomization of a GitRepository takes over an object.
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
	c.equal("the artifact after the release", c.announced("alpha").Status.Artifact != nil, true)
}

// An object keeps its owner labels while it is bypassed, whoever serves it. Its owner may select it again, and whoever serves it
// must hear of that.
func TestTheOtherOneHearsOfTheApply(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("alpha", compared, without("argocd"))
	c.selection("beta", compared, without("nginx"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", "nginx")
	c.flux("beta", "beta", "argocd")
	c.own("alpha", "argocd")
	c.change("alpha", without())
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.takeEnqueued()
	c.flux("alpha", "alpha", "nginx") // which leaves the bypassed object alone
	c.report("alpha", func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory.Entries = append(ks.Status.Inventory.Entries, kustomizev1.ResourceRef{ID: fmt.Sprintf("_argocd_%s_ApplicationDefinition", c.group), Version: "v1"})
	})
	c.settle("alpha")
	if enqueued := c.takeEnqueued(); !slices.Contains(enqueued, "beta") {
		t.Errorf("beta is not enqueued, but %q", enqueued)
	}
	c.settle("beta")
	c.equal("conditions of the other one", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// After a restart, nobody has asked yet what the former holder serves.
func TestWhatWasGivenUpIsNoConflictAfterARestart(t *testing.T) {
	c := moving(t)
	c.change("beta", guarded)
	c.handOver()
	c.catalog("argocd", "falco")
	c.restart()
	c.settle("beta")
	c.equal("conditions", conditionsOf(c.get("beta")), []string{"Held=True Removal", "Ready=True Succeeded"})
	c.equal("withheld", c.get("beta").Status.Withheld, "")
	c.equal("the artifact", c.announced("beta").Status.Artifact != nil, true)
}

// The earlier claim is admitted.
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
	c.rounds("alpha", "gamma", "beta")
	c.ready("alpha", "beta")
	c.equal("conditions of the second at the end", conditionsOf(c.get("gamma")), stalled("Conflict"))
	c.equal("the artifact that it served before", c.announced("gamma").Status.Artifact != nil, true)
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "gamma", "beta")
	c.equal("conditions of the second once it is applied", conditionsOf(c.get("gamma")), stalled("Conflict"))
}

// Its Kustomization has applied an artifact that was published under another name.
func TestASelectionWithoutAPublicationReleasesNothing(t *testing.T) {
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

// What a Kustomization fails to apply goes to another selection, and both publish it until that has applied it. What gives way then
// still claims it: it is not deleted when the other one gives it up.
func TestAWithheldSelectionStillClaims(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco")
	c.selection("alpha", compared, without("nginx"))
	c.consumer("alpha", "alpha", pruning)
	c.settle("alpha")
	c.flux("alpha", "alpha", "falco")
	c.selection("beta", compared, without("falco"))
	c.consumer("beta", "beta", pruning)
	c.rounds("alpha", "beta")
	c.equal("conditions while alpha may apply it", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.fails("alpha")
	c.rounds("alpha", "beta")
	c.ready("beta")
	c.flux("beta", "beta", "argocd", "nginx")
	c.settle("beta", "alpha")
	c.equal("withheld", c.get("alpha").Status.Withheld, "Conflict")
	c.settle("alpha")
	uid := c.live("argocd").GetUID()

	c.change("beta", without("argocd", "falco"))
	c.settle("beta")
	c.flux("beta", "beta", "nginx")
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.flux("alpha", "alpha", "argocd", "falco")
	if object := c.live("argocd"); object == nil || object.GetUID() != uid {
		t.Errorf("argocd is %v, want the object %s", object, uid)
	}
}

// What is published and not applied yet, as an object with a bypass never is, is given up as well.
func TestASwapOfWhatNobodyHasApplied(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco")
	c.selection("alpha", compared, without("nginx", "falco"))
	c.selection("beta", compared, without("argocd", "falco"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.change("alpha", without("argocd", "falco"))
	c.change("beta", without("nginx", "falco"))
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.equal("what they publish", append(c.contents("alpha"), c.contents("beta")...), []string{"nginx", "argocd"})
}
