// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// The tag was not moved to the approved revision, but to another one. When it is moved to it later, it takes away what nobody
// has seen.
func TestAnApprovalOfARevisionThatDidNotComeReleasesNothingLater(t *testing.T) {
	for name, of := range map[string]func(revision string, first *v1alpha1.CatalogSelection) string{
		"the revision": func(revision string, _ *v1alpha1.CatalogSelection) string { return revision },
		"the render": func(_ string, first *v1alpha1.CatalogSelection) string {
			return guard.Checksum(first.Status.Artifact.Revision)
		},
	} {
		t.Run(name, func(t *testing.T) {
			content := applications(t, "argocd")
			e, first := publishGuarded(t, "argocd")
			e.source(applications(t, "argocd nginx"))
			e.good()
			sum := of(digestOf(content), first.cs)
			e.approve(sum)
			e.good() // an edit is no new revision
			e.source(applications(t, "argocd nginx falco"))
			good := e.good()
			e.restart()
			e.source(content)
			for range 2 {
				cs := e.hold(good, "Removal")
				e.equal("lost", lost(cs), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"})
				e.equal("used approvals", cs.Status.UsedApprovals, []string{sum})
			}
			e.approve(sum + "#2")
			e.good()
		})
	}
}

// A new revision of another source says nothing about what the approved one takes away.
func TestAnApprovalOutlivesTheRevisionsOfOtherSources(t *testing.T) {
	e, _ := publishSources(t, from("a", "b"), "a", "argocd nginx", "b", "falco")
	next := applications(t, "argocd")
	e.approve(digestOf(next))
	e.catalogs("b", "falco tempo")
	e.good()
	e.sourceOf("OCIRepository", e.key("a"), next)
	e.good()
}
