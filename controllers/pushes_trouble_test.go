// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// breakOff reads a part of the body and closes the connection.
func breakOff(_ http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPut {
		return false
	}
	_, _ = r.Body.Read(make([]byte, 10))
	panic(http.ErrAbortHandler)
}

func TestAPushThatFailsDelaysNothing(t *testing.T) {
	for _, test := range []struct {
		name      string
		misbehave func(http.ResponseWriter, *http.Request) bool
		want      string
	}{
		{"no rights", status(http.StatusUnauthorized), "401 Unauthorized; no credentials were sent"},
		{"forbidden", status(http.StatusForbidden), "403 Forbidden"},
		{"a missing repository", status(http.StatusNotFound), "404 Not Found"},
		{"rate limiting", status(http.StatusTooManyRequests), "429 Too Many Requests; the registry is rate-limiting requests"},
		{"a registry that fails", status(http.StatusInternalServerError), "500 Internal Server Error"},
		{"an upload that breaks off", at("/blobs/", breakOff), "the config: "},
		{"a manifest that breaks off", at("/manifests/sha256", breakOff), "the manifest: "},
		{"a tag that is refused", at("/manifests/latest", func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPut && status(http.StatusConflict)(w, r)
		}), "setting the tag latest, after stable: PUT "},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPushing(t)
			p.front.does(test.misbehave)
			p.events.take()
			cs := p.settle()
			p.equal("conditions", conditionsOf(cs), []string{"Pushed=False PushFailed", "Ready=True Succeeded"})
			if got := p.condition(); !strings.Contains(got, test.want) {
				t.Errorf("condition is %s, want %s", got, test.want)
			}
			if a := p.announced("kkp"); a == nil || a.Status.Artifact.Revision != cs.Status.Artifact.Revision {
				t.Error("the ExternalArtifact was held back")
			}
			p.equal("events", p.events.take(), []string{
				"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact", "Warning PushFailed CatalogSelection", "Warning PushFailed ExternalArtifact",
			})
			if n := p.pushQueue.NumRequeues(ctrl.Request{NamespacedName: p.key("kkp")}); n != 1 {
				t.Errorf("%d retries are queued, want one", n)
			}
			p.again()
			p.equal("events of a repetition", p.events.take(), []string(nil))

			p.front.does(nil)
			p.again()
			p.equal("conditions", conditionsOf(p.get("kkp")), []string{"Pushed=True Succeeded", "Ready=True Succeeded"})
			p.tagged("latest")
		})
	}
}

// A registry that hangs delays the push, and not the next publication of the same selection.
func TestARegistryThatHangsDelaysNothing(t *testing.T) {
	p := newPushing(t)
	hangs := make(chan struct{})
	p.front.does(func(_ http.ResponseWriter, r *http.Request) bool {
		hangs <- struct{}{}
		<-r.Context().Done()
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.reconciler.pushes.Start(ctx) }()
	p.reconcile("kkp")
	<-hangs
	before := p.announced("kkp").Status.Artifact.Revision
	p.source(applications(t, "argocd nginx velero"))
	p.reconcile("kkp")
	if after := p.announced("kkp").Status.Artifact.Revision; after == before {
		t.Error("nothing new was published")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Start() = %v", err)
	}
	p.equal("conditions", conditionsOf(p.get("kkp")), []string{"Pushed=Unknown Progressing", "Ready=True Succeeded"})
}

func TestWhatIsNotPushed(t *testing.T) {
	t.Run("a held revision", func(t *testing.T) {
		p := newPushing(t, guarded)
		p.settle()
		before, _ := p.tagged("latest")
		p.source(applications(t, "argocd"))
		p.settle()
		p.equal("conditions", conditionsOf(p.get("kkp")), []string{"Held=True Removal", "Pushed=True Succeeded", "Ready=True Succeeded"})
		if after, _ := p.tagged("latest"); after != before {
			t.Error("it was pushed")
		}
	})
	t.Run("a suspended selection", func(t *testing.T) {
		p := newPushing(t)
		p.reconcile("kkp")
		p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		p.settle()
		p.equal("requests", p.front.taken(), []string(nil))
	})
	t.Run("a deleted selection", func(t *testing.T) {
		p := newPushing(t)
		p.reconcile("kkp")
		p.remove(p.get("kkp"))
		if _, err := p.tryReconcile("kkp"); err != nil {
			t.Fatal(err)
		}
		p.push()
		p.equal("requests", p.front.taken(), []string(nil))
	})
	t.Run("a selection that belongs to another shard now", func(t *testing.T) {
		p := newPushing(t)
		p.settle()
		p.front.taken()
		p.depart()
		if _, err := p.tryReconcile("kkp"); err != nil {
			t.Fatal(err)
		}
		p.pushQueue.Add(ctrl.Request{NamespacedName: p.key("kkp")})
		p.push()
		p.equal("requests", p.front.taken(), []string(nil))
	})
	t.Run("a selection without spec.push", func(t *testing.T) {
		p := newPushing(t)
		p.settle()
		p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push = nil })
		cs := p.settle()
		p.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
		p.equal("status", cs.Status.Push, nil)
		p.tagged("latest")
	})
	t.Run("an archive that was damaged", func(t *testing.T) {
		p := newPushing(t)
		p.reconcile("kkp")
		if err := os.WriteFile(p.archiveFiles()[0], []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.push()
		p.equal("requests that write", slices.DeleteFunc(p.front.taken(), func(r string) bool { return !strings.HasPrefix(r, "P") }), []string(nil))
		p.reconcile("kkp") // renders it again
		p.again()
		p.equal("condition", p.condition()[:4], "True")
	})
}
