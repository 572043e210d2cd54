// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// from sets OCIRepositories with these names as the sources of a selection; name:path for one with a directory.
func from(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = nil
		for _, word := range names {
			name, path, _ := strings.Cut(word, ":")
			cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Name: name, Path: path, Format: v1alpha1.FormatApplications})
		}
	}
}

// merging sets the sources with these names, of which the later ones are merged.
func merging(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		from(names...)(cs)
		for i := range cs.Spec.Sources[1:] {
			cs.Spec.Sources[i+1].Merge = v1alpha1.MergeVersions
		}
	}
}

// catalogs sets the catalog of each source: names and words alternate.
func (e *environment) catalogs(pairs ...string) map[string]*meta.Artifact {
	e.Helper()
	artifacts := map[string]*meta.Artifact{}
	for pair := range slices.Chunk(pairs, 2) {
		artifacts[pair[0]] = e.sourceOf("OCIRepository", e.key(pair[0]), applications(e.T, pair[1]))
	}
	return artifacts
}

func publishSources(t *testing.T, edit specEdit, pairs ...string) (*environment, lastGood) {
	t.Helper()
	e := newEnvironment(t)
	e.catalogs(pairs...)
	e.selection("kkp", guarded, edit)
	return e, e.good()
}

// Nobody has seen what one of them takes away without the others.
func TestSeveralNewRevisionsAreApprovedByTheRender(t *testing.T) {
	e, good := publishSources(t, from("a", "b", "c"), "a", "argocd argo", "b", "nginx angie", "c", "falco")
	changed := e.catalogs("a", "argocd", "b", "nginx argo")

	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal angie 1.0.0"})
	e.equal("revision", cs.Status.Held.Revision, fmt.Sprintf("OCIRepository/%[1]s/a=%[2]s,OCIRepository/%[1]s/b=%[3]s,OCIRepository/%[1]s/c=%[4]s",
		e.namespace, changed["a"].Revision, changed["b"].Revision, good.cs.Status.Sources[2].Revision))
	approve := cs.Status.Held.Approve
	e.approve(changed["a"].Digest+"#copied", changed["b"].Digest, good.cs.Status.Sources[2].Digest)
	e.equal("approve", e.hold(good, "Removal").Status.Held.Approve, approve)

	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = approve })
	e.catalogs("b", "nginx angie") // not fetched yet
	cs = e.hold(good, "Removal")
	e.equal("lost by the first alone", lost(cs), []string{"Removal argo 1.0.0"})
	e.equal("approve of the first alone", cs.Status.Held.Approve, []string{changed["a"].Digest})
	e.catalogs("b", "nginx argo")
	e.good()
}

// The content changes at the same revision, as with another layerSelector or ignore.
func TestAChangeAtTheSameRevisionHasToBeApproved(t *testing.T) {
	e, good := publishSources(t, from("a", "b"), "a", "argocd argo", "b", "nginx angie")
	other := e.catalogs("a", "argocd", "b", "nginx")
	other["b"].Revision = good.cs.Status.Sources[1].Revision
	e.setArtifact("OCIRepository", e.key("b"), other["b"])
	e.approve(other["a"].Digest, good.cs.Status.Sources[1].Digest)
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal angie 1.0.0", "Removal argo 1.0.0"})
	if render := cs.Status.Held.Approve; len(render) != 1 || slices.Contains(cs.Spec.Safeguards.Approve, render[0]) {
		t.Errorf("approve is %q", render)
	}
	e.approve(cs.Status.Held.Approve...)
	e.good()
}

func TestSourcesOfOneNameAreDistinguished(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	git := e.sourceOf("GitRepository", e.key("catalog"), applications(t, "nginx angie"))
	both := []v1alpha1.SourceReference{byContent(), {Kind: "GitRepository", Name: "catalog"}}
	e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = both })
	good := e.good()
	e.sourceOf("GitRepository", e.key("catalog"), applications(t, "nginx"))
	// A commit cannot contain its own hash, so the approval has the checksum of the render.
	approve := e.hold(good, "Removal").Status.Held.Approve
	e.approve(git.Digest, good.cs.Status.Sources[0].Digest)
	e.equal("approve", e.hold(good, "Removal").Status.Held.Approve, approve)
	e.approve(approve...)
	e.good()
	e.equal("the approved checksum is the revision", consumers.RevisionOf(e.get("kkp")), "latest@"+approve[0])
}

// The revision of yesterday as a second source keeps the versions that today's lacks, and nothing has to be approved.
func TestYesterdaysRevisionKeepsVersions(t *testing.T) {
	for _, kind := range []string{"OCIRepository", "GitRepository"} {
		t.Run(kind, func(t *testing.T) {
			e, good := publishSources(t, from("today"), "today", "argocd::1.0.0,2.0.0 nginx")
			e.sourceOf(kind, e.key("yesterday"), applications(t, "argocd::1.0.0,2.0.0 nginx"))
			e.catalogs("today", "argocd::2.0.0,3.0.0 nginx")
			e.hold(good, "VersionRemoval")
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				merging("today", "yesterday")(cs)
				cs.Spec.Sources[1].Kind = kind
			})
			now := e.good()
			e.equal("versions", now.cs.Status.Applications[0].Versions, []string{"2.0.0", "3.0.0", "1.0.0"})
			e.equal("notes", now.cs.Status.Applications[0].Notes, []string{"also in yesterday", "1.0.0 from yesterday"})
			e.emptyStorage()
			e.restart()
			e.equal("revision of a rebuild", e.good().cs.Status.Artifact.Revision, now.cs.Status.Artifact.Revision)
		})
	}
}
