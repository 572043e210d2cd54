// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// runManager runs the reconciler of e in a manager with four workers, as the command does, for the namespaces of both.
func runManager(e *environment, others ...*environment) {
	e.Helper()
	namespaces := map[string]cache.Config{e.namespace: {}}
	for _, other := range others {
		namespaces[other.namespace] = cache.Config{}
		e.namespaces.add(other.namespace)
	}
	skip := true
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme: apiServer.Scheme(), Cache: cache.Options{DefaultNamespaces: namespaces},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{MaxConcurrentReconciles: 4, SkipNameValidation: &skip},
	})
	if err != nil {
		e.Fatal(err)
	}
	e.restartWith(func(o *Options) {
		o.Client = e.traffic.through(unwatched{mgr.GetClient()})
		o.APIReader, o.Secrets, o.Now = mgr.GetAPIReader(), apiServer, time.Now
		o.KindCaches.DefaultNamespaces = namespaces
		o.PushQueue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	})
	e.reconciler.enqueued, e.reconciler.changed = make(chan event.GenericEvent), make(chan event.GenericEvent)
	e.reconciler.loader.Enqueue = e.reconciler.enqueue
	if err := e.reconciler.SetupWithManager(e.Context(), mgr, workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]()); err != nil {
		e.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(e.Context()) }()
	e.Cleanup(func() {
		if err := <-ended; err != nil {
			e.Errorf("the manager ended with %v", err)
		}
	})
}

// unwatched is a client of a manager. Only the cache of the manager watches.
type unwatched struct{ client.Client }

// Watch implements client.WithWatch.
func (unwatched) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, errors.ErrUnsupported
}

// await waits until the selection "kkp" fulfills a condition, and returns how long that took.
func (e *environment) await(what string, within time.Duration, reached func(*v1alpha1.CatalogSelection) bool) time.Duration {
	e.Helper()
	return e.until(what, within, func() bool { return reached(e.get("kkp")) })
}

// until waits for an event, and returns how long that took.
func (e *environment) until(what string, within time.Duration, happened func() bool) time.Duration {
	e.Helper()
	start := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-e.Context().Done():
			e.Fatal(e.Context().Err())
		}
		if time.Since(start) > within {
			e.Fatalf("%s took longer than %s", what, within)
		}
	}
	return time.Since(start)
}

func revisionIsNot(old string) func(*v1alpha1.CatalogSelection) bool {
	return func(cs *v1alpha1.CatalogSelection) bool {
		return cs.Status.Artifact != nil && cs.Status.Artifact.Revision != old
	}
}

// hangingRegistry accepts requests and never answers. arrived has one value for each request.
func hangingRegistry(t *testing.T) (host string, arrived chan struct{}) {
	t.Helper()
	front := newFront(t)
	arrived = make(chan struct{}, 1000)
	front.does(func(_ http.ResponseWriter, r *http.Request) bool {
		arrived <- struct{}{}
		<-r.Context().Done()
		return true
	})
	return front.host(), arrived
}

// hangingSelection selects from an OCIRepository of its own in a registry.
func (e *environment) hangingSelection(host, name string) {
	e.Helper()
	e.setArtifact(sourcev1.OCIRepositoryKind, e.key(name), nil)
	repository := &sourcev1.OCIRepository{}
	if err := apiServer.Get(e.Context(), e.key(name), repository); err != nil {
		e.Fatal(err)
	}
	repository.Spec.URL, repository.Spec.Insecure = fmt.Sprintf("oci://%s/%s", host, name), true
	repository.Spec.Timeout = &metav1.Duration{Duration: time.Minute}
	if err := apiServer.Update(e.Context(), repository); err != nil {
		e.Fatal(err)
	}
	e.sourceOf(sourcev1.OCIRepositoryKind, e.key(name), applications(e.T, "argocd "+name))
	e.selection(name, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = []v1alpha1.SourceReference{{Name: name}} })
}

// A tenant has 24 sources in a registry that stopped answering. The upgrade of the platform is published all the same.
func TestAHangingRegistryStopsNobodyElse(t *testing.T) {
	tenant, platform := newEnvironment(t), newEnvironment(t)
	platform.source(applications(t, "argocd"))
	platform.selection("kkp")
	runManager(tenant, platform)
	platform.await("the first publication", time.Minute, revisionIsNot(""))
	first := platform.get("kkp").Status.Artifact.Revision

	host, arrived := hangingRegistry(t)
	for i := range 24 {
		tenant.hangingSelection(host, fmt.Sprintf("hanging-%d", i))
	}
	<-arrived
	platform.source(applications(t, "argocd nginx"))
	took := platform.await("the upgrade of the platform", 20*time.Second, revisionIsNot(first))
	t.Logf("the upgrade of the platform took %s beside 24 sources that hang", took)
}

// The condition of a selection whose namespace downloads already describes what it waits for, and that of one that downloads,
// from where. The last good artifact stays served, and Ready says so.
func TestTheConditionSaysWhatIsWaitedFor(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	runManager(e)
	e.await("the first publication", time.Minute, revisionIsNot(""))
	host, _ := hangingRegistry(t)
	for i := range 3 {
		e.hangingSelection(host, fmt.Sprintf("hanging-%d", i))
	}
	e.until("a selection waits for its turn", time.Minute, func() bool {
		said := map[bool]int{}
		for i := range 3 {
			message := conditions.GetMessage(e.get(fmt.Sprintf("hanging-%d", i)), meta.ReconcilingCondition)
			for waits, part := range map[bool]string{true: "waits for one of 2 downloads at a time in namespace " + e.namespace, false: "from " + host} {
				if strings.Contains(message, part) {
					said[waits]++
				}
			}
		}
		return said[true] == 1 && said[false] == 2
	})
	before := e.get("kkp").Status.Artifact.Revision
	e.source(applications(t, "argocd nginx"))
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"velero"} }) // which a wait of two seconds is reported of
	e.until("kkp waits for its turn", time.Minute, func() bool {
		return strings.Contains(conditions.GetMessage(e.get("kkp"), meta.ReconcilingCondition), "waits for one of 2 downloads")
	})
	cs := e.get("kkp")
	e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded of generation 1, not 2", "Reconciling=True Progressing"})
	if announced := e.announced("kkp").Status.Artifact.Revision; announced != before {
		t.Errorf("%s is served while the next one waits, want %s", announced, before)
	}

	// What is suspended or deleted gives its turn to the next.
	for i, end := range []func(*v1alpha1.CatalogSelection) error{
		func(cs *v1alpha1.CatalogSelection) error {
			cs.Spec.Suspend = true
			return apiServer.Update(t.Context(), cs)
		},
		func(cs *v1alpha1.CatalogSelection) error { return apiServer.Delete(t.Context(), cs) },
	} {
		if err := end(e.get(fmt.Sprintf("hanging-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	e.await("the upgrade", 20*time.Second, revisionIsNot(before))
}

// A tenant has 24 selections that are pushed to a registry that stopped answering. The push of the platform is done all
// the same.
func TestAHangingRegistryStopsNoPushOfOthers(t *testing.T) {
	tenant, platform := newEnvironment(t), newPushing(t)
	tenant.source(applications(t, "argocd"))
	runManager(tenant, platform.environment)
	pushed := func(cs *v1alpha1.CatalogSelection) bool { return conditions.IsTrue(cs, v1alpha1.PushedCondition) }
	platform.await("the first push", time.Minute, pushed)
	first := platform.get("kkp").Status.Push.Revision

	host, arrived := hangingRegistry(t)
	for i := range 24 {
		tenant.selection(fmt.Sprintf("hanging-%d", i), func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Push = &v1alpha1.Push{URL: fmt.Sprintf("oci://%s/%s", host, cs.Name), Tags: []string{"latest"}, Insecure: true}
		})
	}
	<-arrived
	tenant.until("a push waits for its turn", time.Minute, func() bool {
		said := 0
		for i := range 24 {
			message := conditions.GetMessage(tenant.get(fmt.Sprintf("hanging-%d", i)), v1alpha1.PushedCondition)
			if strings.Contains(message, "waits for one of 2 pushes at a time in namespace "+tenant.namespace) {
				said++
			}
		}
		return said == 22
	})
	platform.source(applications(t, "argocd nginx velero"))
	took := platform.await("the push of the platform", 20*time.Second, func(cs *v1alpha1.CatalogSelection) bool {
		return cs.Status.Push.Revision != first
	})
	t.Logf("the push of the platform took %s beside 24 pushes that hang", took)
}

// Whoever suspends a selection ends its push, and other pushes of the namespace get the turn.
func TestASuspendedSelectionIsNotPushed(t *testing.T) {
	front, e := newFront(t), newEnvironment(t)
	arrived, ended := make(chan struct{}, 1000), make(chan struct{}, 1000)
	front.does(func(_ http.ResponseWriter, r *http.Request) bool {
		arrived <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
		return true
	})
	e.source(applications(t, "argocd"))
	runManager(e)
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Push = &v1alpha1.Push{URL: "oci://" + front.host() + "/kkp", Tags: []string{"latest"}, Insecure: true}
	})
	<-arrived
	suspend := func(suspend bool) {
		before := e.get("kkp")
		cs := before.DeepCopy()
		cs.Spec.Suspend = suspend
		if err := apiServer.Patch(t.Context(), cs, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	suspend(true)
	e.until("the end of the push", 20*time.Second, func() bool { return len(ended) > 0 })
	suspend(false)
	e.until("the next push", 20*time.Second, func() bool { return len(arrived) > 0 })
}
