// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// newHub returns a hub: its selection pushes to a registry, and no Kustomization uses it.
func newHub(t *testing.T) *pushing {
	t.Helper()
	p := newPushing(t, guarded, compared)
	p.equal("withheld", p.settle().Status.Withheld, v1alpha1.NoConsumerReason)
	return p
}

// pushedNow publishes and pushes, and expects that the tag has that publication.
func (p *pushing) pushedNow() *v1alpha1.CatalogSelection {
	p.Helper()
	cs := p.settle()
	p.equal("conditions", conditionsOf(cs), []string{"Pushed=True Succeeded", "Ready=True Succeeded"})
	p.equal("the pushed revision", cs.Status.Push.Revision, cs.Status.Artifact.Revision)
	return cs
}

// heldAt expects that the tag stays where it is while applications are lost.
func (p *pushing) heldAt(pushed *v1alpha1.CatalogSelection, losses ...string) *v1alpha1.CatalogSelection {
	p.Helper()
	cs := p.settle()
	p.equal("lost", lost(cs), losses)
	p.equal("the pushed artifact", cs.Status.Push, pushed.Status.Push)
	return cs
}

// What a hub has pushed is known: a line is used with the push, as where the artifact is served.
func TestAHubIsReleasedByLines(t *testing.T) {
	p := newHub(t)
	p.source(applications(t, "argocd"))
	cs := p.heldAt(p.get("kkp"), "Removal nginx 1.0.0")
	p.equal("approve", cs.Status.Held.Approve, []string{"nginx"})
	p.approveHeld()
	cs = p.pushedNow()
	p.equal("withheld", cs.Status.Withheld, v1alpha1.NoConsumerReason)
	p.equal("used", used(cs), []string{"nginx"})

	p.source(applications(t, "argocd nginx"))
	cs = p.pushedNow()
	p.source(applications(t, "argocd"))
	cs = p.heldAt(cs, "Removal nginx 1.0.0")
	p.equal("approve once more", cs.Status.Held.Approve, []string{"nginx#2"})
}

// The first consumer of a hub has something that was never pushed: the lines for what was pushed do not name that.
func TestAFirstConsumerOfAHubIsCompared(t *testing.T) {
	p := newHub(t)
	p.source(applications(t, p.own("argocd")))
	p.heldAt(p.get("kkp"), "Removal argocd 1.0.0", "Removal nginx 1.0.0")
	p.approveHeld()
	p.approve(p.own("velero"))
	p.pushedNow()

	p.applied("apps", p.own("argocd velero"))
	p.settled("apps")
	cs := p.reconcile("kkp")
	p.equal("lost", lost(cs), []string{"Removal " + p.own("velero")})
	p.equal("the artifact while it is held", p.announced("kkp").Status.Artifact == nil, true)
	p.equal("approve", cs.Status.Held.Approve, []string{p.own("velero") + ":live"})
	p.approveHeld()
	p.equal("withheld once it is approved", p.pushedNow().Status.Withheld, "")
}
