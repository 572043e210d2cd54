// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
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

// What a hub has pushed is known: the revision of a catalog is approved by its digest, once, as where it is served.
func TestAHubIsApprovedByTheRevision(t *testing.T) {
	p := newHub(t)
	second := p.source(applications(t, "argocd"))
	cs := p.heldAt(p.get("kkp"), "Removal nginx 1.0.0")
	p.equal("approve", cs.Status.Held.Approve, []string{second.Digest})
	p.approve(second.Digest)
	cs = p.pushedNow()
	p.equal("withheld", cs.Status.Withheld, v1alpha1.NoConsumerReason)
	p.equal("used approvals", cs.Status.UsedApprovals, []string{second.Digest})

	p.source(applications(t, "argocd falco"))
	cs = p.pushedNow()
	p.source(applications(t, "argocd"))
	cs = p.heldAt(cs, "Removal falco 1.0.0")
	p.equal("approve once more", cs.Status.Held.Approve, []string{second.Digest + "#2"})
}

// The approval of a revision that another one has passed over comes too late.
func TestAnApprovalOfAHubThatComesTooLate(t *testing.T) {
	p := newHub(t)
	content := applications(t, "argocd")
	second := p.source(content)
	p.heldAt(p.get("kkp"), "Removal nginx 1.0.0")
	p.source(applications(t, "argocd nginx falco"))
	p.pushedNow()
	p.approve(second.Digest)
	cs := p.pushedNow()
	p.equal("used approvals", cs.Status.UsedApprovals, []string{second.Digest})
	p.source(content)
	p.heldAt(cs, "Removal falco 1.0.0", "Removal nginx 1.0.0")
}

// The first consumer of a hub has something that was never pushed: whoever approved what was pushed has not seen that.
func TestAFirstConsumerOfAHubIsCompared(t *testing.T) {
	p := newHub(t)
	second := p.source(applications(t, p.own("argocd")))
	p.heldAt(p.get("kkp"), "Removal argocd 1.0.0", "Removal nginx 1.0.0")
	p.approve(second.Digest)
	render := guard.Checksum(p.pushedNow().Status.Artifact.Revision)
	p.approve(render)
	p.pushedNow() // uses the entry up

	p.applied("apps", p.own("argocd velero"))
	p.settled("apps")
	cs := p.reconcile("kkp")
	p.equal("lost", lost(cs), []string{"Removal " + p.own("velero")})
	p.equal("the artifact while it is held", p.announced("kkp").Status.Artifact == nil, true)
	p.equal("approve", cs.Status.Held.Approve, []string{render + "#2"})
	p.approve(render + "#2")
	p.equal("withheld once it is approved", p.pushedNow().Status.Withheld, "")
}
