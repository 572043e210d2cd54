// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A process publishes, is frozen before one of its requests, and goes on after others have written. What they leave stays.
func TestAFrozenPublicationIsNotAnnounced(t *testing.T) {
	publish := func(e *environment) {
		e.source(applications(e.T, "argocd nginx falco"))
		e.good()
	}
	withhold := func(e *environment) {
		e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { s.Withheld = v1alpha1.ConflictReason })
		if err := e.reconciler.artifacts.Announce(e.Context(), e.get("kkp")); err != nil {
			e.Fatal(err)
		}
	}
	remove := func(e *environment) { e.remove(e.get("kkp")) }
	recreate := func(e *environment) {
		remove(e)
		e.source(applications(e.T, "falco"))
		e.selection("kkp", guarded)
		e.equal("lost", lost(e.reconcile("kkp")), []string{"Removal argocd 1.0.0"})
	}
	take := func(e *environment) {
		announced := e.announced("kkp")
		e.remove(announced)
		other := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "kkp", Namespace: e.namespace}}
		other.Spec.SourceRef = announced.Spec.SourceRef.DeepCopy()
		other.Spec.SourceRef.Name = "other"
		if err := apiServer.Create(e.Context(), other); err != nil {
			e.Fatal(err)
		}
	}
	const status, read, artifact = "patch CatalogSelection/status", "get ExternalArtifact", "patch ExternalArtifact/status"
	for _, test := range []struct {
		name      string
		before    func(*environment)
		at        string
		meanwhile func(*environment)
		cached    bool // the cache still has the ExternalArtifact of before
	}{
		{name: "another leader publishes", at: artifact, meanwhile: publish},
		{name: "another leader publishes, and the cache is behind", at: artifact, meanwhile: publish, cached: true},
		{name: "another leader publishes before the status is written", at: status, meanwhile: publish},
		{name: "another leader withholds it", at: artifact, meanwhile: withhold},
		{name: "another leader withholds it again", before: withhold, at: read, meanwhile: withhold},
		{name: "the selection is deleted before the status is written", at: status, meanwhile: remove},
		{name: "the selection is replaced before the status is written", at: status, meanwhile: recreate},
		{name: "the selection is replaced, and held", at: artifact, meanwhile: recreate},
		{name: "another owner takes the name", at: artifact, meanwhile: take},
		{name: "another owner takes the name, and the cache is behind", at: artifact, meanwhile: take, cached: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, _ := publishGuarded(t, "argocd")
			if test.before != nil {
				test.before(e)
			}
			e.source(applications(t, "argocd nginx"))
			cached, frozen := e.announced("kkp"), false
			var left *sourcev1.ExternalArtifact
			e.traffic.before = func(request string, _ client.Object) error {
				if request != test.at || frozen {
					return nil
				}
				frozen = true
				next := *e
				next.traffic = &traffic{}
				next.restart()
				test.meanwhile(&next)
				left = next.announced("kkp")
				if test.cached {
					e.traffic.replaceReads(func(_ client.ObjectKey, object client.Object) (bool, error) {
						announced, ok := object.(*sourcev1.ExternalArtifact)
						if ok {
							cached.DeepCopyInto(announced)
						}
						return ok, nil
					})
				}
				return nil
			}
			e.reconciler.artifacts.APIReader = interceptor.NewClient(apiServer, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
					_ = e.traffic.before("get "+kindOf(object), object)
					return c.Get(ctx, key, object, opts...)
				},
			})
			if _, err := e.tryReconcile("kkp"); err != nil {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("frozen", frozen, true)
			e.equal("the ExternalArtifact", e.announced("kkp"), left)
		})
	}
}
