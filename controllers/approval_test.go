// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// filtered sets the content that Flux takes from the revision of another one, by what it has observed of its spec.
func (e *environment) filtered(revision *meta.Artifact, content []byte, observe func(*sourcev1.OCIRepositoryStatus)) {
	e.Helper()
	taken := e.source(content)
	taken.Revision = revision.Revision
	e.setArtifact(sourcev1.OCIRepositoryKind, e.key("catalog"), taken)
	repository := &sourcev1.OCIRepository{}
	if err := apiServer.Get(e.Context(), e.key("catalog"), repository); err != nil {
		e.Fatal(err)
	}
	observe(&repository.Status)
	if err := apiServer.Status().Update(e.Context(), repository); err != nil {
		e.Fatal(err)
	}
}

func ignoring(patterns string) func(*sourcev1.OCIRepositoryStatus) {
	return func(s *sourcev1.OCIRepositoryStatus) { s.ObservedIgnore = &patterns }
}

func selecting(mediaType string) func(*sourcev1.OCIRepositoryStatus) {
	return func(s *sourcev1.OCIRepositoryStatus) {
		s.ObservedLayerSelector = &sourcev1.OCILayerSelector{MediaType: mediaType}
	}
}

// One commit approves the next revision, and misspells a tier: whoever approved the revision did not see that.
func TestAnApprovedRevisionReleasesNoTypo(t *testing.T) {
	e, good := publishGuarded(t, "argocd:gold nginx:silver falco:gold", tierRefs("gold", "silver"))
	second := e.source(applications(t, "argocd:gold nginx:silver"))
	e.approve(second.Digest)
	e.edit(tierRefs("gold", "sliver"))
	cs := e.hold(good, "Removal")
	render := cs.Status.Held.Approve
	if len(render) != 1 || render[0] == second.Digest {
		t.Fatalf("approve is %q, and the revision %s", render, second.Digest)
	}
	var lines []string
	for _, r := range cs.Status.Held.Reasons {
		lines = append(lines, strings.TrimSpace(r.Reason+" "+r.Application+" "+strings.ReplaceAll(strings.Join(r.Approve, " "), second.Digest, "by the revision")))
	}
	e.equal("reasons", lines, []string{"Removal falco by the revision", "UnknownName"})
	want := "; " + second.Digest + " releases only what that revision takes away alone; to publish it all the same, add to spec.safeguards.approve: " + render[0]
	if message := conditions.GetMessage(cs, v1alpha1.HeldCondition); !strings.HasSuffix(message, want) {
		t.Errorf("the message is %q", message)
	}
	e.edit(tierRefs("gold", "silver"))
	e.good()
}

func TestAnApprovedRevisionReleasesNoTypoEvenIfOneApprovesTheRender(t *testing.T) {
	e, good := publishGuarded(t, "argocd:gold nginx:silver falco:gold", tierRefs("gold", "silver"))
	e.source(applications(t, "argocd:gold nginx:silver"))
	e.edit(tierRefs("gold", "sliver"))
	e.approve(e.hold(good, "Removal").Status.Held.Approve...)
	e.good()
}

// The edit takes from the approved revision what the spec of the last publication keeps.
func TestAnApprovedRevisionReleasesNothingThatAnEditCauses(t *testing.T) {
	e, good := publishGuarded(t, "argocd:gold nginx:gold falco:gold")
	second := e.source(applications(t, "argocd:gold nginx:silver"))
	e.approve(second.Digest)
	e.edit(tierRefs("gold"))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"})
	e.equal("approves falco", cs.Status.Held.Reasons[0].Approve, []string{second.Digest})
	e.equal("approves nginx", cs.Status.Held.Reasons[1].Approve, []string(nil))
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = nil })
	e.good()
}

func TestWhatFluxTakesFromARevisionIsApprovedByTheRender(t *testing.T) {
	for name, observe := range map[string]func(*sourcev1.OCIRepositoryStatus){
		"spec.ignore": ignoring("applications/nginx"), "spec.layerSelector": selecting("application/vnd.example"),
	} {
		t.Run(name+" of the same revision", func(t *testing.T) {
			e, _ := publishGuarded(t, "argocd nginx falco")
			second := e.source(applications(t, "argocd nginx"))
			e.approve(second.Digest, second.Digest+"#2")
			good := e.good()
			e.filtered(second, applications(t, "argocd"), observe)
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Safeguards.Approve = append(cs.Spec.Safeguards.Approve, second.Digest+"#3")
			})
			cs := e.hold(good, "Removal")
			e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
			e.approve(cs.Status.Held.Approve...)
			e.good()
		})
		t.Run(name+" with a new revision", func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx falco")
			second := e.source(applications(t, "argocd nginx"))
			e.approve(second.Digest)
			e.filtered(second, applications(t, "argocd"), observe)
			cs := e.hold(good, "Removal")
			e.equal("lost", lost(cs), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"})
			e.approve(cs.Status.Held.Approve...)
			e.good()
			third := e.source(applications(t, "argocd:gold:2.0.0"))
			e.filtered(third, applications(t, "argocd:gold:2.0.0"), observe)
			e.approve(guard.Checksum(third.Revision))
			e.good()
		})
	}
}
