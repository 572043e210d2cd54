package controllers

import (
	"net/http"
	"net/http/httptest"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/registry"
)

// v2 was held, and v3 was published before v2 was approved. The approval is used up by then, and releases
// nothing when the tag goes back to v2.
func TestAnApprovalThatCameTooLateReleasesNothing(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	second := e.source(applications(t, "argocd"))
	e.hold(good, "Removal")
	e.source(applications(t, "argocd nginx falco"))
	e.good()
	e.approve(second.Digest) // the pull request of the hold is merged
	e.good()
	e.source(applications(t, "argocd nginx falco tempo"))
	good = e.good()
	e.source(applications(t, "argocd"))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0", "Removal tempo 1.0.0"})
}

// An unhealthy receiver leaves the mark of a move on what it has applied. Its next reviewed removal takes
// the mark off, so that Flux deletes the object.
func TestALeftOverMarkDoesNotPreventARemoval(t *testing.T) {
	c := moving(t)
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.flux("alpha", "alpha", "falco")
	c.flux("beta", "beta", "argocd", "nginx")
	c.report("beta", func(ks *kustomizev1.Kustomization) {
		ks.Status.LastAttemptedRevision = cluster.RevisionOf(c.get("beta"))
	})
	c.fails("beta") // a health check
	c.rounds("alpha", "beta")
	c.change("beta", without("argocd", "falco"))
	c.rounds("beta", "alpha")
	c.ready("beta")
	c.flux("beta", "beta", "nginx")
	c.equal("what was excluded", c.kept("argocd"), "gone")
}

// A push reads what its tag names. A kustomization.yaml in there makes it fetch nothing.
func TestAPushAsksNoAddressThatATagNames(t *testing.T) {
	var asked []string
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		_, _ = w.Write([]byte("token: the-secret-of-the-metadata-service\n"))
	}))
	defer inside.Close()
	p := newPushing(t, guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Tags = []string{"v1"} })
	s := shaped(registry.NewBlob(v1.MediaTypeImageLayerGzip, catalogArchive(t, "kustomization.yaml",
		"kind: Kustomization\nresources: ['"+inside.URL+"/latest/meta-data']\npatches: [{patch: '[]', target: {kind: X}}]\n")))
	s.manifest.ArtifactType = v1alpha1.RenderedArtifactType
	s.manifest.Annotations = map[string]string{v1alpha1.SelectionAnnotation: p.namespace + "/kkp"}
	p.upload(p.repositoryAt(registryHost), s)
	p.settle()
	if len(asked) > 0 {
		t.Errorf("the controller asked for %v; the condition is %s", asked, p.condition())
	}
}
