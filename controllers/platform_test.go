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

func onKubernetes(versions ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Platform = &v1alpha1.Platform{Kubernetes: versions} }
}

func TestWhatThePlatformDropsIsHeldWhoeverEdited(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after string
		spec, edit    specEdit
		reason, want  string
	}{
		{"an edit adds the platform", requiring, requiring, guarded, onKubernetes("1.33.2"), "VersionRemoval", "VersionRemoval argocd 2.0.0"},
		{"an edit drops a version from it", requiring, requiring, onKubernetes("1.33.2", "1.34.0"), onKubernetes("1.33.2"), "VersionRemoval", "VersionRemoval argocd 2.0.0"},
		{"an edit leaves no version", requiring, requiring, guarded, onKubernetes("1.30.0"), "Removal", "Removal argocd 2.0.0 1.0.0"},
		{"the catalog begins to require something", "tier: gold\n", requiring, onKubernetes("1.33.2"), nil, "VersionRemoval", "VersionRemoval argocd 2.0.0"},
		{"both at once", "tier: gold\n", requiring, guarded, onKubernetes("1.33.2"), "VersionRemoval", "VersionRemoval argocd 2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(withFacts(t, test.before))
			e.selection("kkp", guarded, test.spec)
			good := e.good()
			if test.edit != nil {
				e.edit(test.edit)
			}
			if test.after != test.before {
				e.source(withFacts(t, test.after))
			}
			e.equal("lost", lost(e.hold(good, test.reason)), []string{test.want})
			e.restart()
			held := e.hold(good, test.reason)
			e.equal("lost after a restart", lost(held), []string{test.want})
			e.approve(held.Status.Held.Approve...)
			if e.good().cs.Status.Artifact.Revision == good.cs.Status.Artifact.Revision {
				t.Error("what is approved is not published")
			}
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Platform = nil })
			e.equal("versions without the platform", e.good().cs.Status.Applications[0].Versions, []string{"2.0.0", "1.0.0"})
		})
	}
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
