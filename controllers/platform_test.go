// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// withFacts is a catalog of argocd in 2.0.0 and 1.0.0, with the content of its metadata.yaml, and of nginx.
func withFacts(t *testing.T, metadata string) []byte {
	t.Helper()
	return catalogArchive(t,
		"applications/argocd/application.yaml", definition("argocd", "2.0.0,1.0.0"), "applications/argocd/metadata.yaml", metadata,
		"applications/nginx/application.yaml", definition("nginx", "1.0.0"), "applications/nginx/metadata.yaml", "tier: gold\n",
	)
}

const requiring = "tier: gold\nversions:\n  2.0.0: {requires: {kubernetes: '>=1.34'}}\n  1.0.0: {requires: {kubernetes: '>=1.31'}}\n"

// Which edits these are is tested in render/guard.
func TestWhatThePlatformDropsIsHeldWhoeverEdited(t *testing.T) {
	e := newEnvironment(t)
	e.source(withFacts(t, requiring))
	e.selection("kkp", guarded)
	good := e.good()
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Platform = &v1alpha1.Platform{Kubernetes: []string{"1.33.2"}}
	})
	want := []string{"VersionRemoval argocd 2.0.0"}
	e.equal("lost", lost(e.hold(good, "VersionRemoval")), want)
	e.restart()
	held := e.hold(good, "VersionRemoval")
	e.equal("lost after a restart", lost(held), want)
	e.approve(held.Status.Held.Approve...)
	if e.good().cs.Status.Artifact.Revision == good.cs.Status.Artifact.Revision {
		t.Error("what is approved is not published")
	}
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Platform = nil })
	e.equal("versions without the platform", e.good().cs.Status.Applications[0].Versions, []string{"2.0.0", "1.0.0"})
}

func TestWhatIsDeprecatedIsInTheStatus(t *testing.T) {
	e := newEnvironment(t)
	e.source(withFacts(t, "tier: gold\n"))
	e.selection("kkp", guarded)
	good := e.good()
	e.source(withFacts(t, "tier: gold\nversions: {1.0.0: {deprecated: Use 2.0.0.}, 0.1.0: {deprecated: gone}}\n"))
	now := e.good()
	e.equal("revision", now.cs.Status.Artifact.Revision, good.cs.Status.Artifact.Revision)
	e.equal("deprecated", now.cs.Status.Deprecated, []v1alpha1.DeprecatedStatus{{Application: "argocd", Versions: []string{"1.0.0"}, Message: "Use 2.0.0."}})
	e.equal("count", now.cs.Status.Summary.DeprecatedVersions, int32(1))
	e.source(withFacts(t, "tier: gold\n"))
	e.equal("deprecated in the end", e.good().cs.Status.Deprecated, []v1alpha1.DeprecatedStatus(nil))
}
