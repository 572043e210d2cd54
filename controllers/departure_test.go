// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// reading returns a client of the API server that fails to read objects with the type of like.
func reading(like client.Object, failure error) client.WithWatch {
	return interceptor.NewClient(apiServer, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			switch object.(type) {
			case *v1alpha1.CatalogSelection:
				if _, ok := like.(*v1alpha1.CatalogSelection); ok {
					return failure
				}
			case *sourcev1.ExternalArtifact:
				if _, ok := like.(*sourcev1.ExternalArtifact); ok {
					return failure
				}
			}
			return c.Get(ctx, key, object, options...)
		},
	})
}

// depart makes the selection "kkp" one of another shard: the cache of this controller has it no longer.
func (e *environment) depart() {
	absent := apierrors.NewNotFound(schema.GroupResource{Resource: "catalogselections"}, "kkp")
	e.reconciler.Client = reading(&v1alpha1.CatalogSelection{}, absent)
}

// What this controller has noted of a selection of another shard would stay for as long as it runs, and its metrics would
// contradict those of that shard.
func TestASelectionOfAnotherShardLeavesNothingBehind(t *testing.T) {
	e := newMeasured(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	cs, _ := e.publish("kkp")
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Path = "none" })
	e.reconcile("kkp") // an edit that is not published
	if _, ok := e.reconciler.published.Load(e.key("kkp")); !ok || len(e.reconciler.edits.seen) == 0 {
		t.Fatal("nothing is noted")
	}
	if len(e.named("gotk_")) == 0 || len(e.named("winnow_")) == 0 {
		t.Fatal("there are no metrics")
	}

	e.depart()
	if _, err := e.tryReconcile("kkp"); err != nil {
		t.Fatal(err)
	}
	if _, ok := e.reconciler.published.Load(e.key("kkp")); ok {
		t.Error("the publication is still noted")
	}
	e.equal("edits", len(e.reconciler.edits.seen), 0)
	e.equal("series", e.named(""), map[string]float64{})
	e.reconciler.recordInstances(e.Context(), cs)
	e.equal("series after the states of instances, which were read before", e.named(""), map[string]float64{})
}

func TestTheArchivesOfASelectionMoveToItsShard(t *testing.T) {
	stays := ctrl.Result{RequeueAfter: departureDelay}
	for _, test := range []struct {
		name   string
		before func(e *environment)
		want   ctrl.Result
		err    error
		left   bool
	}{
		{"while this controller serves it, they stay", func(*environment) {}, stays, nil, true},
		{"after a failed read, they stay", func(e *environment) {
			e.reconciler.artifacts.APIReader = reading(&sourcev1.ExternalArtifact{}, errUnavailable)
		}, ctrl.Result{}, errUnavailable, true},
		{"once another one serves it, they are deleted", func(e *environment) {
			announced := e.announced("kkp")
			announced.Status.Artifact.URL = strings.Replace(announced.Status.Artifact.URL, e.storage.Hostname, "winnow-controller-shard1.example", 1)
			if err := apiServer.Status().Update(e.Context(), announced); err != nil {
				e.Fatal(err)
			}
		}, ctrl.Result{}, nil, false},
		{"without an artifact, they are deleted", func(e *environment) {
			announced := e.announced("kkp")
			announced.Status.Artifact = nil
			if err := apiServer.Status().Update(e.Context(), announced); err != nil {
				e.Fatal(err)
			}
		}, ctrl.Result{}, nil, false},
		{"without an ExternalArtifact, they are deleted", func(e *environment) { e.remove(e.announced("kkp")) }, ctrl.Result{}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			e.publish("kkp")
			e.selection("other")
			e.publish("other")
			test.before(e)
			e.depart()
			result, err := e.tryReconcile("kkp")
			if result != test.want || !errors.Is(err, test.err) {
				t.Errorf("Reconcile() = %+v, %v, want %+v, %v", result, err, test.want, test.err)
			}
			if left := len(e.archiveFiles()) > 0; left != test.left {
				t.Errorf("archives are left: %t, want %t", left, test.left)
			}
			if _, err := os.Stat(e.archiveDir("other")); err != nil {
				t.Errorf("the archives of the other selection are gone: %v", err)
			}
		})
	}
}
