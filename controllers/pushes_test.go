// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"oras.land/oras-go/v2"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
)

func TestTheServedArtifactIsPushed(t *testing.T) {
	p := newPushing(t)
	p.reconcile("kkp")
	if got := p.condition(); !strings.HasPrefix(got, "Unknown Progressing: pushing sha256:") {
		t.Errorf("before the push: %s", got)
	}
	p.events.take()
	p.push()
	cs := p.reconcile("kkp")
	pushed, m := p.tagged("latest")
	p.equal("status", cs.Status.Push, v1alpha1.PushStatus{
		URL: p.url() + "@" + pushed, Revision: cs.Status.Artifact.Revision,
		Sources: cs.Status.Sources[0].Revision, Tags: []string{"stable", "latest"},
	})
	p.equal("condition", p.condition(), fmt.Sprintf("True Succeeded: pushed %s as %s@%s", bounds.ShortChecksum(cs.Status.Artifact.Revision), p.url(), pushed))
	p.equal("events", p.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
	p.equal("artifactType", m.ArtifactType, "application/vnd.winnow.rendered.v1")
	p.equal("annotations", m.Annotations, map[string]string{
		"org.opencontainers.image.revision": cs.Status.Sources[0].Revision,
		"catalog.winnow.dev/revision":       cs.Status.Artifact.Revision,
		"catalog.winnow.dev/selection":      p.namespace + "/kkp",
	})
	if len(m.Layers) != 1 || m.Layers[0].MediaType != v1.MediaTypeImageLayerGzip || m.Layers[0].Digest.String() != cs.Status.Artifact.Digest {
		t.Errorf("layers are %+v, the archive is %s", m.Layers, cs.Status.Artifact.Digest)
	}
	layer, err := registry.FetchLayer(t.Context(), p.repositoryAt(registryHost), m.Layers[0], 1<<20)
	if err != nil || digestOf(layer) != digestOf(p.download(p.announced("kkp"))) {
		t.Errorf("the layer is not the served archive: %v", err)
	}
	// The manifest is pushed before a tag refers to it.
	var order []string
	for _, request := range p.front.taken() {
		if strings.HasPrefix(request, "PUT ") && strings.Contains(request, "/manifests/") {
			order = append(order, request[strings.LastIndexByte(request, '/')+1:])
		}
	}
	p.equal("order of the manifests", order, []string{pushed, "stable", "latest"})
}

func TestAPushThatIsRepeatedMovesNothing(t *testing.T) {
	p := newPushing(t)
	before := p.settle()
	p.front.taken()

	p.reconcile("kkp")
	p.equal("pushes without a change", p.pushQueue.Len(), 0)
	p.source(applications(t, "argocd nginx:silver")) // changes the metadata alone
	p.reconcile("kkp")
	p.push()
	p.equal("requests after a catalog that changes nothing selected", p.front.taken(), []string(nil))

	p.restart()
	p.reconcile("kkp")
	p.equal("condition while the registry is checked", p.condition()[:4], "True")
	p.push()
	after := p.reconcile("kkp")
	p.equal("status.push", after.Status.Push, before.Status.Push)
	requests := p.front.taken()
	if len(requests) == 0 || slices.ContainsFunc(requests, func(r string) bool { return !strings.HasPrefix(r, "HEAD ") }) {
		t.Errorf("a restart made the requests %q", requests)
	}
}

func TestTagsFollowThePublication(t *testing.T) {
	p := newPushing(t)
	p.settle()
	first, _ := p.tagged("latest")
	p.source(applications(t, "argocd nginx velero"))
	p.settle()
	second, _ := p.tagged("latest")
	if stable, _ := p.tagged("stable"); first == second || stable != second {
		t.Errorf("latest was %s and is %s, stable is %s", first, second, stable)
	}
	if old, _ := p.tagged(first); old != first {
		t.Errorf("the artifact before is gone")
	}

	// The tag was moved back by another client.
	to := p.repositoryAt(registryHost)
	if _, err := oras.Tag(t.Context(), to, first, "latest"); err != nil {
		t.Fatal(err)
	}
	p.again()
	if now, _ := p.tagged("latest"); now != second {
		t.Errorf("latest is %s, want %s", now, second)
	}
	p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Tags = []string{"v1"} })
	p.settle()
	if v1, _ := p.tagged("v1"); v1 != second {
		t.Errorf("another tag gave another artifact: %s, want %s", v1, second)
	}
}

func TestATagOfAnotherWriterIsNotMoved(t *testing.T) {
	for _, test := range []struct {
		name, want string
		shape      func(*pushing) shape
	}{
		{"a catalog", "which no CatalogSelection has pushed", func(p *pushing) shape { return shaped(catalogLayer(applications(p.T, "argocd"))) }},
		{"an artifact of another selection", `which the CatalogSelection "other/kkp" has pushed`, func(p *pushing) shape {
			s := shaped(registry.NewBlob(v1.MediaTypeImageLayerGzip, applications(p.T, "argocd")))
			s.manifest.ArtifactType = v1alpha1.RenderedArtifactType
			s.manifest.Annotations = map[string]string{v1alpha1.SelectionAnnotation: "other/kkp"}
			return s
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPushing(t, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Tags = []string{"latest", "v1"} })
			theirs := p.upload(p.repositoryAt(registryHost), test.shape(p))
			p.settle()
			p.equal("other conditions", conditionsOf(p.get("kkp")), []string{"Pushed=False TagConflict", "Ready=True Succeeded"})
			got := p.condition()
			for _, part := range []string{"setting the tag v1, after latest: it names " + theirs.Digest.String(), test.want, "choose another tag"} {
				if !strings.Contains(got, part) {
					t.Errorf("condition is %s, want %s", got, part)
				}
			}
			if now, _ := p.tagged("v1"); now != theirs.Digest.String() {
				t.Errorf("v1 is %s, want %s", now, theirs.Digest)
			}
			p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Tags = []string{"latest"} })
			p.settle()
			p.equal("condition", p.condition()[:4], "True")
		})
	}
}

func TestAPushToARegistryWithTLSAndAPassword(t *testing.T) {
	p := newPushing(t)
	p.registrySecret("login", secureRegistry.Host, registryPassword)
	p.caSecret("authority", secureRegistry)
	p.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Push = &v1alpha1.Push{URL: strings.Replace(p.url(), p.front.host(), secureRegistry.Host, 1), CertSecretRef: reference("authority")}
	})
	p.settle()
	if got := p.condition(); !strings.HasPrefix(got, "False PushFailed: ") || !strings.Contains(got, "401 Unauthorized; no credentials were sent") {
		t.Errorf("without a password: %s", got)
	}
	p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.SecretRef = reference("login") })
	p.settle()
	p.equal("condition", p.condition()[:4], "True")
	to := p.securedRepository(secureRegistry, registryUser, registryPassword)
	if _, _, err := registry.FetchManifest(t.Context(), to, "latest"); err != nil {
		t.Error(err)
	}
}

func TestTheAPIServerRefusesAnInvalidPush(t *testing.T) {
	e := newEnvironment(t)
	for _, test := range []struct {
		name string
		push v1alpha1.Push
		ok   bool
	}{
		{"a repository", v1alpha1.Push{URL: "oci://registry.example.com/rendered/kkp"}, true},
		{"a port, and deep inside", v1alpha1.Push{URL: "oci://127.0.0.1:5000/a/b-c/d__e.f", Tags: []string{"v1.2.3_a"}}, true},
		{"no scheme", v1alpha1.Push{URL: "registry.example.com/rendered"}, false},
		{"another scheme", v1alpha1.Push{URL: "https://registry.example.com/rendered"}, false},
		{"a tag", v1alpha1.Push{URL: "oci://registry.example.com/rendered:v1"}, false},
		{"a digest", v1alpha1.Push{URL: "oci://registry.example.com/rendered@sha256:00"}, false},
		{"credentials", v1alpha1.Push{URL: "oci://user:password@registry.example.com/rendered"}, false},
		{"no repository", v1alpha1.Push{URL: "oci://registry.example.com"}, false},
		{"capitals", v1alpha1.Push{URL: "oci://registry.example.com/Rendered"}, false},
		{"a way out", v1alpha1.Push{URL: "oci://registry.example.com/../x"}, false},
		{"an invalid tag", v1alpha1.Push{URL: "oci://registry.example.com/x", Tags: []string{"a/b"}}, false},
		{"a tag twice", v1alpha1.Push{URL: "oci://registry.example.com/x", Tags: []string{"a", "a"}}, false},
		{"no cloud of this name", v1alpha1.Push{URL: "oci://registry.example.com/x", Provider: "other"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := &v1alpha1.CatalogSelection{}
			cs.GenerateName, cs.Namespace = "push-", e.namespace
			cs.Spec.Sources, cs.Spec.Push = []v1alpha1.SourceReference{byContent()}, &test.push
			err := apiServer.Create(t.Context(), cs)
			if test.ok && err != nil || !test.ok && !apierrors.IsInvalid(err) {
				t.Errorf("Create() = %v", err)
			}
			if test.ok && test.push.Tags == nil && !slices.Equal(cs.Spec.Push.Tags, []string{"latest"}) {
				t.Errorf("tags are %v", cs.Spec.Push.Tags)
			}
		})
	}
}

// The pushed layer is a valid archive for Winnow itself.
func TestThePushedLayerIsAnArchive(t *testing.T) {
	p := newPushing(t)
	p.settle()
	_, m := p.tagged("latest")
	layer, err := p.repositoryAt(registryHost).Fetch(t.Context(), m.Layers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer layer.Close()
	files, err := archive.Read(t.Context(), layer, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p.equal("files", files.Paths(), []string{"applicationdefinitions/argocd.yaml", "applicationdefinitions/kustomization.yaml", "applicationdefinitions/nginx.yaml", "kustomization.yaml"})
}

// A recreated selection has no record, but its tag refers to the artifact of the clusters that follow it.
func TestAPushTakesNothingAwayThatTheRecordDoesNotKnow(t *testing.T) {
	for _, test := range []struct {
		name, words, want string
		edit              specEdit
	}{
		{name: "without an application", words: "argocd", want: "False Removal"},
		{name: "without a version", words: "argocd nginx::2.0.0", want: "False VersionRemoval"},
		{name: "removals are published", words: "argocd", want: "True Succeeded", edit: func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Safeguards.OnRemoval = v1alpha1.SafeguardPublish
		}},
		{name: "with another application", words: "argocd nginx falco", want: "True Succeeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPushing(t, guarded)
			p.settle()
			p.remove(p.get("kkp"))
			p.reconciled("kkp")
			p.source(applications(t, test.words))
			edit := test.edit
			if edit == nil {
				edit = guarded
			}
			p.selection("kkp", guarded, edit, func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Push = &v1alpha1.Push{URL: p.url(), Tags: []string{"stable", "latest"}, Insecure: true}
			})
			cs := p.settle()
			e := p.environment
			e.equal("conditions", conditionsOf(cs)[1:], []string{"Ready=True Succeeded"})
			if got := p.condition(); !strings.HasPrefix(got, test.want) {
				t.Fatalf("Pushed is %s, want %s", got, test.want)
			}
			if strings.HasPrefix(test.want, "True") {
				return
			}
			sum := strings.TrimPrefix(cs.Status.Artifact.Revision, "latest@")
			if !strings.Contains(p.condition(), "add to spec.safeguards.approve: "+sum) {
				t.Errorf("the condition does not explain how to release the push: %s", p.condition())
			}
			p.approve(sum)
			p.settle()
			if got := p.condition(); !strings.HasPrefix(got, "True Succeeded") {
				t.Errorf("approved it is %s", got)
			}
		})
	}
}

// While nothing is pushed, and no Kustomization uses the artifact, a revision is compared with nothing. The clusters that follow the tag
// still have the pushed one.
func TestAPushThatComesBackTakesNothingAway(t *testing.T) {
	there := func(*v1alpha1.CatalogSelectionStatus) {}
	for name, lose := range map[string]struct {
		before, after func(*v1alpha1.CatalogSelectionStatus)
	}{
		"the status is there":      {there, there},
		"the status is lost":       {func(s *v1alpha1.CatalogSelectionStatus) { *s = v1alpha1.CatalogSelectionStatus{} }, there},
		"the record is lost":       {func(s *v1alpha1.CatalogSelectionStatus) { s.WrittenRecord = nil }, there},
		"the record is lost later": {there, func(s *v1alpha1.CatalogSelectionStatus) { s.WrittenRecord = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPushing(t, guarded, compared)
			pushed := p.settle().Spec.Push
			before, _ := p.tagged("latest")
			p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push = nil })
			p.settle()
			p.rewrite(lose.before)
			p.age()
			p.source(applications(t, "argocd"))
			p.settle()
			p.rewrite(lose.after)
			p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push = pushed })
			p.settle()
			now, _ := p.tagged("latest")
			p.equal("the tag", now, before)
			if got := p.condition(); !strings.HasPrefix(got, "False Removal") {
				t.Errorf("Pushed is %s", got)
			}
		})
	}
}

// A push reads the tagged artifact. A kustomization.yaml in it must not cause any requests.
func TestAPushFetchesNothingForATaggedArtifact(t *testing.T) {
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
