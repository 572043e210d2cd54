// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// partOf sends a part of the announced content.
func partOf(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
	w.Header().Set("Content-Length", "100000")
	_, _ = io.WriteString(w, `{"schemaVersion": 2`)
	panic(http.ErrAbortHandler)
}

// hang blocks until the client has disconnected.
func hang(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return true
}

// changed serves the content with one byte changed, under the old digest.
func changed(content []byte) func(http.ResponseWriter, *http.Request) bool {
	another := slices.Clone(content)
	another[len(another)/2] ^= 1
	return body(v1.MediaTypeImageManifest, string(another))
}

// Whatever failure the registry has when the manifest, or a layer that Flux has not selected, is fetched: the
// conditions report it, the fetch is retried, and the last good artifact stays served, which is the same for each failure of
// a manifest, and of a layer.
func TestARegistryThatFails(t *testing.T) {
	good := catalogLayer(applications(t, "argocd"))
	readme := registry.NewBlob("text/markdown", []byte("# Read me\n"))
	manifest, layer := shaped(good), shaped(readme, good)
	for _, test := range []struct {
		name      string
		shape     shape
		misbehave func(*front) func(http.ResponseWriter, *http.Request) bool
		message   []string
	}{
		{"it is down", manifest, func(f *front) func(http.ResponseWriter, *http.Request) bool { f.Listener.Close(); return nil }, []string{"connection refused"}},
		{"it never answers", manifest, func(*front) func(http.ResponseWriter, *http.Request) bool { return hang }, []string{"deadline exceeded"}},
		{"401", manifest, answer(status(http.StatusUnauthorized)), []string{"401 Unauthorized; no credentials were sent"}},
		{"404", manifest, answer(status(http.StatusNotFound)), []string{"not found"}},
		{"429", manifest, answer(status(http.StatusTooManyRequests)), []string{"429 Too Many Requests; the registry is rate-limiting requests"}},
		{"500", manifest, answer(status(http.StatusInternalServerError)), []string{"500 Internal Server Error"}},
		{"a manifest that breaks off", manifest, answer(partOf), nil},
		{"an altered manifest", manifest, answer(changed([]byte(`{"schemaVersion": 2}`))), []string{"mismatch"}},
		{"a page of a portal", manifest, answer(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>Welcome to the guest network</html>")
			return true
		}), []string{"answers with a web page"}},
		{"a redirect in circles", manifest, answer(func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}), []string{"stopped after 10 redirects"}},
		{"a missing layer", layer, answer(at("/blobs/", status(http.StatusNotFound))), []string{"fetching the layer " + good.Descriptor.Digest.String()}},
		{"a layer that breaks off", layer, answer(at("/blobs/", partOf)), []string{"fetching the layer"}},
		{"an altered layer", layer, answer(at("/blobs/", changed(good.Content))), []string{"mismatch"}},
		{"a layer that never comes", layer, answer(at("/blobs/", hang)), []string{"deadline exceeded"}},
	} {
		trouble := trouble{want: retried("FetchFailed"), retry: backoff, message: test.message, cause: func(e *environment) {
			front := newFront(e.T)
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}} })
			e.pushed(e.repositoryAt(front.host()), test.shape, func(r *sourcev1.OCIRepository) {
				r.Spec.Timeout = &metav1.Duration{Duration: 300 * time.Millisecond}
			})
			front.does(test.misbehave(front))
		}}
		t.Run(test.name+", at first", func(t *testing.T) { troubleAtFirst(t, trouble) })
		if test.name == "500" || test.name == "a missing layer" {
			t.Run(test.name+", after a publication", func(t *testing.T) { troubleLater(t, trouble) })
		}
	}
}

func answer(misbehave func(http.ResponseWriter, *http.Request) bool) func(*front) func(http.ResponseWriter, *http.Request) bool {
	return func(*front) func(http.ResponseWriter, *http.Request) bool { return misbehave }
}

// A request that fails temporarily is retried, as often as --http-retry allows.
func TestARequestIsTriedAgain(t *testing.T) {
	e, front := newEnvironment(t), newFront(t)
	e.pushed(e.repositoryAt(front.host()), shaped(catalogLayer(applications(t, "argocd"))))
	failures := 0
	front.does(at("/manifests/", func(w http.ResponseWriter, r *http.Request) bool {
		failures++
		return failures < 3 && status(http.StatusServiceUnavailable)(w, r)
	}))
	e.restartWith(func(o *Options) { o.HTTPRetry = 2 })
	e.selectByManifest()
	e.publish("kkp")
	e.equal("tries", failures, 3)
}

// A restarted controller publishes the same artifact while the registry is down.
func TestARestartNeedsNoRegistry(t *testing.T) {
	good := catalogLayer(applications(t, "argocd"))
	readme := registry.NewBlob("text/markdown", []byte("# Read me\n"))
	for _, test := range []struct {
		name  string
		shape shape
		lost  bool
	}{
		{"Flux has selected the layer", shaped(good), false},
		{"Flux has selected another layer", shaped(readme, good), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, front := newEnvironment(t), newFront(t)
			e.pushed(e.repositoryAt(front.host()), test.shape)
			e.selectByManifest()
			before, _ := e.publish("kkp")
			front.does(status(http.StatusServiceUnavailable))
			e.emptyStorage()
			e.restart()
			if test.lost {
				if _, err := e.tryReconcile("kkp"); err == nil {
					t.Error("Reconcile() needed no registry")
				}
				e.equal("conditions", conditionsOf(e.get("kkp")), retried("FetchFailed"))
				front.does(nil)
			}
			after, _ := e.publish("kkp")
			e.equal("artifact", after.Status.Artifact.Digest, before.Status.Artifact.Digest)
		})
	}
}

// Of two sources with the same manifest, each needs access to the registry: the digest of a private catalog
// must not give access to it by the fetch of another source.
func TestALookupBelongsToOneSource(t *testing.T) {
	e := newEnvironment(t)
	e.secured(e.credentialed(func(*sourcev1.OCIRepository) {}))
	e.selectByManifest()
	e.publish("kkp")
	repository := &sourcev1.OCIRepository{}
	if err := apiServer.Get(t.Context(), e.key("catalog"), repository); err != nil {
		t.Fatal(err)
	}
	artifact := repository.Status.Artifact.DeepCopy()
	thief := repository.DeepCopy()
	thief.ObjectMeta = metav1.ObjectMeta{Name: "thief"}
	thief.Spec.SecretRef = nil
	e.create(thief)
	artifact.URL = strings.Replace(artifact.URL, "catalog", "thief", 1)
	thief.Status.Artifact = artifact
	if err := apiServer.Status().Update(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
	e.selection("other", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "thief"}} })
	_, err := e.tryReconcile("other")
	if failure.ReasonOf(err) != v1alpha1.FetchFailedReason || !strings.Contains(fmt.Sprint(err), "401") {
		t.Errorf("Reconcile() = %v", err)
	}
}

// The signature covers the manifest, with which source-controller does not compare extracted files. So the
// signed layer is fetched, and the extracted files are ignored.
func TestExtractedFilesAreNotSigned(t *testing.T) {
	signed, evil := catalogLayer(applications(t, "argocd")), applications(t, "evil")
	e, front := newEnvironment(t), newFront(t)
	to := e.repositoryAt(front.host())
	manifest := e.upload(to, shaped(signed))
	pull := func(content []byte) {
		e.fluxPulled(to, manifest, content, func(r *sourcev1.OCIRepository) { r.Spec.Verify = sourcetest.ByCosign() })
		e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage("v1@"+manifest.Digest.String()))
	}
	pull(evil)
	e.selectByManifest() // no signature is required
	cs, _ := e.publish("kkp")
	e.equal("applications", cs.Status.Applications[0].Name, "evil")
	e.edit(requireVerified)
	e.restart()
	cs, _ = e.publish("kkp")
	e.equal("applications", cs.Status.Applications[0].Name, "argocd")
	good := e.good()

	// The layer in the registry is altered, too.
	front.does(at("/blobs/", changed(signed.Content)))
	e.restart()
	pull(applications(t, "evil twin"))
	if _, err := e.tryReconcile("kkp"); failure.ReasonOf(err) != v1alpha1.FetchFailedReason {
		t.Errorf("Reconcile() = %v", err)
	}
	e.untouched(good)
}
