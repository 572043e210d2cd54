// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fluxcd/pkg/artifact/storage"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// environment is a namespace with a reconciler, its storage, a server for the storage, and a server for the
// artifacts of sources.
type environment struct {
	*testing.T
	namespace string
	// claims is the view of the reconciler.
	claims *holders.View
	// through returns what the watch of the view writes to; nil for the view itself.
	through func(clientcache.ReflectorStore) clientcache.ReflectorStore
	// namespaces has the namespace and that of the neighbor, if there is one.
	namespaces *namespaces
	sources    *sourcetest.Server
	storage    *storage.Storage
	events     *recorder
	traffic    *traffic
	log        *logLines
	clock      *clock
	pushQueue  workqueue.TypedRateLimitingInterface[ctrl.Request]
	reconciler *CatalogSelectionReconciler
	// followed waits until the caches of a cluster have what was written; nil without a cluster.
	followed func()
}

// clock is the time that has passed in a test, which the views of its processes read as well.
type clock struct{ atomic.Int64 }

// namespaces are those of a test. The view of its process reads them while the test adds one.
type namespaces struct {
	mu    sync.Mutex
	names []string
}

func newNamespaces(name string) *namespaces { return &namespaces{names: []string{name}} }

func (n *namespaces) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = append(n.names, name)
}

func (n *namespaces) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.names)
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	namespace := &corev1.Namespace{}
	namespace.GenerateName = "test-"
	if err := apiServer.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	served := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(served.Close)
	e := &environment{
		T:          t,
		namespace:  namespace.Name,
		namespaces: newNamespaces(namespace.Name),
		sources:    sourcetest.NewServer(t),
		clock:      &clock{},
		events:     &recorder{},
		traffic:    &traffic{},
		log:        &logLines{},
		storage: &storage.Storage{
			BasePath:                 dir,
			Hostname:                 strings.TrimPrefix(served.URL, "http://"),
			ArtifactRetentionTTL:     time.Minute,
			ArtifactRetentionRecords: 2,
		},
	}
	t.Cleanup(func() { // or the views of later tests would list them
		for _, namespace := range e.namespaces.all() {
			if err := apiServer.DeleteAllOf(context.Background(), &v1alpha1.CatalogSelection{}, client.InNamespace(namespace)); err != nil {
				t.Error(err)
			}
		}
	})
	e.restart()
	return e
}

// ownSelections is a client that lists only the selections of a test.
type ownSelections struct {
	client.WithWatch
	namespaces *namespaces
}

// List implements client.Reader.
func (o ownSelections) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	all, ok := list.(*v1alpha1.CatalogSelectionList)
	if !ok {
		return o.WithWatch.List(ctx, list, opts...)
	}
	all.Items = nil
	for _, namespace := range o.namespaces.all() {
		var own v1alpha1.CatalogSelectionList
		if err := o.WithWatch.List(ctx, &own, append(opts, client.InNamespace(namespace))...); err != nil {
			return err
		}
		all.Items = append(all.Items, own.Items...)
	}
	return nil
}

// ownClaims is a view that has only the selections of a test.
type ownClaims struct {
	*holders.View
	namespaces *namespaces
}

// own reports whether an object of the watch is a selection of the test.
func (o ownClaims) own(object any) bool {
	s, ok := object.(*holders.Selection)
	return ok && slices.Contains(o.namespaces.all(), s.Namespace)
}

func (o ownClaims) Add(object any) error { return o.Update(object) }

func (o ownClaims) Update(object any) error {
	if !o.own(object) {
		return nil
	}
	return o.View.Update(object)
}

func (o ownClaims) Replace(objects []any, version string) error {
	return o.View.Replace(slices.DeleteFunc(objects, func(object any) bool { return !o.own(object) }), version)
}

// restart replaces the reconciler by one without state.
func (e *environment) restart() {
	e.Helper()
	e.restartWith(func(*Options) {})
}

// restartWith restarts with changed options.
func (e *environment) restartWith(edit func(*Options)) {
	// The long backoff leaves retries to the tests.
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Hour, time.Hour)
	e.pushQueue = workqueue.NewTypedRateLimitingQueue(limiter)
	options := Options{
		Name: "winnow-controller", Client: e.traffic.through(ownSelections{apiServer, e.namespaces}), APIReader: apiServer, Secrets: apiServer, Config: restConfig,
		Recorder: e.events, Storage: e.storage, CatalogCacheBytes: 64 << 20, PushQueue: e.pushQueue, Now: e.now,
		KindCaches: cache.Options{Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper()},
	}
	options.Claims = &holders.View{Now: e.now}
	edit(&options)
	e.claims = options.Claims
	e.reconciler = New(e.Context(), options)
	var store clientcache.ReflectorStore = ownClaims{options.Claims, e.namespaces}
	if e.through != nil {
		store = e.through(store)
	}
	watch, err := holders.Watch(restConfig, "", store)
	if err != nil {
		e.Fatal(err)
	}
	e.reconciler.enqueued = make(chan event.GenericEvent, 1000)
	e.reconciler.changed = e.reconciler.enqueued
	e.reconciler.loader.Enqueue = func(context.Context, ...types.NamespacedName) {} // reconcileIn waits for loads
	go watch(e.Context())
}

// now is the clock, which only the test advances.
func (e *environment) now() time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(e.clock.Load()))
}

// pass lets time pass.
func (e *environment) pass(d time.Duration) { e.clock.Add(int64(d)) }

// selection creates a CatalogSelection of the OCIRepository "catalog". Its safeguards hold an empty result
// only, and it is served before a consumer was compared: guard_test.go and compared_test.go have the other
// cases. Flux may delete what leaves: orphan_test.go has what is orphaned.
func (e *environment) selection(name string, edit ...func(*v1alpha1.CatalogSelection)) *v1alpha1.CatalogSelection {
	e.Helper()
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = name, e.namespace
	cs.Spec.Sources = []v1alpha1.SourceReference{byContent()}
	cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	cs.Spec.Safeguards.OnRemoval = v1alpha1.SafeguardPublish
	cs.Spec.Safeguards.OnVersionRemoval = v1alpha1.SafeguardPublish
	cs.Spec.Cluster.Serve = v1alpha1.ServeAlways
	for _, f := range edit {
		f(cs)
	}
	if err := apiServer.Create(e.Context(), cs); err != nil {
		e.Fatal(err)
	}
	return cs
}

// byContent refers to the OCIRepository "catalog" without a manifest in a registry, which most tests do not
// need. contracts_test.go has manifests.
func byContent() v1alpha1.SourceReference {
	return v1alpha1.SourceReference{Name: "catalog", Format: v1alpha1.FormatApplications}
}

// edit changes the live selection "kkp".
func (e *environment) edit(f func(*v1alpha1.CatalogSelection)) {
	e.Helper()
	cs := e.get("kkp")
	f(cs)
	if err := apiServer.Update(e.Context(), cs); err != nil {
		e.Fatal(err)
	}
}

func (e *environment) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: e.namespace, Name: name}
}

func (e *environment) get(name string) *v1alpha1.CatalogSelection {
	e.Helper()
	cs := &v1alpha1.CatalogSelection{}
	if err := apiServer.Get(e.Context(), e.key(name), cs); err != nil {
		e.Fatal(err)
	}
	return cs
}

// announced returns the ExternalArtifact with a name, nil without one.
func (e *environment) announced(name string) *sourcev1.ExternalArtifact {
	e.Helper()
	artifact := &sourcev1.ExternalArtifact{}
	err := apiServer.Get(e.Context(), e.key(name), artifact)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		e.Fatal(err)
	}
	return artifact
}

func (e *environment) exists(object client.Object) bool {
	e.Helper()
	err := apiServer.Get(e.Context(), client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		e.Fatal(err)
	}
	return err == nil
}

func (e *environment) remove(object client.Object) {
	e.Helper()
	if err := apiServer.Delete(e.Context(), object); err != nil {
		e.Fatal(err)
	}
}

func (e *environment) tryReconcile(name string) (ctrl.Result, error) {
	return e.reconcileIn(e.context(), name)
}

// reconcileIn reconciles a selection, and again after each load that it waits for.
func (e *environment) reconcileIn(ctx context.Context, name string) (ctrl.Result, error) {
	if e.followed != nil {
		e.followed()
	}
	e.awaitClaims(ctx)
	for {
		result, err := e.reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: e.key(name)})
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Reconciler error")
		}
		if !e.reconciler.loader.Queue.RunNext(ctx) {
			return result, err
		}
	}
}

// awaitClaims waits until the view has the selections of the test as they are now.
func (e *environment) awaitClaims(ctx context.Context) {
	upToDate := func() bool {
		there := map[types.UID]bool{}
		for _, namespace := range e.namespaces.all() {
			var list v1alpha1.CatalogSelectionList
			if err := apiServer.List(ctx, &list, client.InNamespace(namespace)); err != nil {
				return false
			}
			for i := range list.Items {
				cs := &list.Items[i]
				there[cs.UID] = cs.DeletionTimestamp.IsZero()
				if there[cs.UID] && e.claims.Await(ctx, cs.UID, cs.ResourceVersion) != nil {
					return false
				}
			}
		}
		return !slices.ContainsFunc(e.claims.All(), func(c *holders.Claimant) bool { return !there[c.UID] })
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil && !upToDate() {
		<-tick.C
	}
}

// context has a logger with --log-level=trace. At higher levels client-go dumps responses in lines of 16 bytes,
// in which a secret may be split.
func (e *environment) context() context.Context {
	return ctrl.LoggerInto(e.Context(), funcr.New(func(prefix, args string) { e.log.add(prefix + " " + args) }, funcr.Options{Verbosity: 2}))
}

// push runs the pushes that are due.
func (e *environment) push() {
	e.Helper()
	for e.pushQueue.Len() > 0 {
		e.reconciler.pushes.Next(e.context())
	}
}

// reconcile returns the selection afterwards; an error fails the test.
func (e *environment) reconcile(name string) *v1alpha1.CatalogSelection {
	e.Helper()
	if _, err := e.tryReconcile(name); err != nil {
		e.Fatalf("Reconcile() = %v", err)
	}
	return e.get(name)
}

// publish reconciles and expects that the selection is Ready and its ExternalArtifact has the served artifact.
func (e *environment) publish(name string) (*v1alpha1.CatalogSelection, *sourcev1.ExternalArtifact) {
	e.Helper()
	cs := e.reconcile(name)
	e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
	announced := e.announced(name)
	if announced == nil || announced.Status.Artifact == nil {
		e.Fatal("there is no ExternalArtifact with an artifact")
	}
	e.equal("the artifact of the ExternalArtifact", announced.Status.Artifact, cs.Status.Artifact)
	if got := digestOf(e.download(announced)); got != cs.Status.Artifact.Digest {
		e.Errorf("the served file has the digest %s, want %s", got, cs.Status.Artifact.Digest)
	}
	return cs, announced
}

// download returns the content at the URL of an ExternalArtifact, nil for a 404.
func (e *environment) download(artifact *sourcev1.ExternalArtifact) []byte {
	e.Helper()
	return get(e.T, artifact.Status.Artifact.URL)
}

// archiveFiles lists the stored archives of the selection "kkp".
func (e *environment) archiveFiles() []string {
	e.Helper()
	files, err := filepath.Glob(filepath.Join(e.archiveDir("kkp"), "*"))
	if err != nil {
		e.Fatal(err)
	}
	return files
}

// age makes the archives an hour old: the API stores whole seconds, and tests publish twice in one.
func (e *environment) age() {
	e.Helper()
	ago := time.Now().Add(-time.Hour)
	for _, file := range e.archiveFiles() {
		if err := os.Chtimes(file, ago, ago); err != nil {
			e.Fatal(err)
		}
	}
}

func (e *environment) archiveDir(name string) string {
	return filepath.Join(e.storage.BasePath, storage.ArtifactDir(sourcev1.ExternalArtifactKind, e.namespace, name))
}

func (e *environment) emptyStorage() {
	e.Helper()
	if err := os.RemoveAll(filepath.Dir(filepath.Dir(e.archiveDir("any")))); err != nil {
		e.Fatal(err)
	}
}

// equal compares two values by their YAML, and shows the lines between the first and the last difference.
func (e *environment) equal(what string, got, want any) {
	e.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	a := strings.Split(toYAML(e.T, got), "\n")
	b := strings.Split(toYAML(e.T, want), "\n")
	if slices.Equal(a, b) {
		return
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	e.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(a, "\n"), strings.Join(b, "\n"))
}
