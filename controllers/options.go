// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"time"

	"github.com/fluxcd/pkg/artifact/storage"
	"k8s.io/client-go/rest"
	kuberecord "k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/pushes"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/registry/realm"
)

// Options configures New. All fields are required unless their comment says otherwise.
type Options struct {
	// Name is the field manager of all writes.
	Name string
	// Client reads from the cache; APIReader reads past it.
	Client    client.Client
	APIReader client.Reader
	// Secrets reads Secrets and ServiceAccounts, which it must not cache.
	Secrets client.Client
	// Config connects to the API server, for the watches of kinds and for impersonation.
	Config   *rest.Config
	Recorder kuberecord.EventRecorder
	// Metrics are the metrics; nil measures nothing.
	Metrics *metrics.Metrics
	// Storage holds the archives that are served.
	Storage *storage.Storage
	// KindCaches are the options of the watches of definitions and Kustomizations.
	KindCaches cache.Options
	// DefaultServiceAccount sets the marks of selections without a service account. Empty means the controller's own.
	DefaultServiceAccount string
	// Claims has the claims of all selections of the cluster, also of other shards. New sets its Changed. The caller starts its watch after
	// New.
	Claims *holders.View
	// NoCrossNamespaceRefs refuses sources in other namespaces.
	NoCrossNamespaceRefs bool
	// SourceHost, if not empty, replaces the host of the URLs of sources.
	SourceHost string
	// CatalogCacheBytes bounds the memory of cached catalogs.
	CatalogCacheBytes int64
	// HTTPRetry is the number of retries of a request.
	HTTPRetry int
	// TokenHosts are the hosts where tokens of registries are requested wherever they are; may be empty.
	TokenHosts realm.Hosts
	// SettleDelay is the minimum age of an edit that removes something before it is published.
	SettleDelay time.Duration
	// PushQueue is the queue of pushes with their backoff.
	PushQueue workqueue.TypedRateLimitingInterface[ctrl.Request]
	// Now returns the time for the age of edits and the expiry of claims.
	Now func() time.Time
}

// New returns a reconciler. The watches of kinds, which it starts, end with ctx.
func New(ctx context.Context, o Options) *CatalogSelectionReconciler {
	measured := cmp.Or(o.Metrics, &metrics.Metrics{})
	connections := registries.New(o.Secrets, o.HTTPRetry)
	failures, loads := transfers.NewFailures(o.Now), memory.New(memory.LoadBytes)
	connections.TokenHosts, connections.Traffic = o.TokenHosts, measured.Traffic
	downloads := transfers.New(transfers.DefaultLimits())
	downloads.Metrics = measured.Downloads
	own := client.WithFieldOwner(o.Client, o.Name)
	r := &CatalogSelectionReconciler{
		Client: own, EventRecorder: o.Recorder, measured: measured,
		apiReader: o.APIReader, settleDelay: o.SettleDelay, now: o.Now,
		sources: &source.Sources{
			Reader: own, APIReader: o.APIReader, NoCrossNamespaceRefs: o.NoCrossNamespaceRefs,
			Catalogs: source.NewCatalogs(source.CatalogOptions{
				CacheBytes: o.CatalogCacheBytes, HTTPRetry: o.HTTPRetry, Host: o.SourceHost,
				Registries: connections, Failures: failures, Memory: loads, Metrics: measured.Cache, Traffic: measured.Traffic,
			}),
		},
		artifacts: &artifacts.Artifacts{
			Client: own, APIReader: o.APIReader, Storage: o.Storage, Traffic: measured.Traffic,
		},
		pushes: pushes.New(pushes.Options{
			Registries: connections, Failures: failures, Memory: loads, Storage: o.Storage, Queue: o.PushQueue,
			Metrics: measured.Pushes,
		}),
		enqueued: make(chan event.GenericEvent), changed: make(chan event.GenericEvent),
		instances: newInstanceUpdates(),
	}
	r.cluster = cluster.New(own, o.Claims, &access.Access{
		APIReader: o.APIReader, Events: o.Recorder, Kinds: kinds.New(ctx, o.Config, o.KindCaches, o.APIReader),
		Accounts: access.NewAccounts(o.Config,
			client.Options{Scheme: o.KindCaches.Scheme, Mapper: o.KindCaches.Mapper}, o.DefaultServiceAccount),
	})
	r.cluster.Objects.Reported = func(ctx context.Context, object client.Object) {
		r.instances.enqueue(r.cluster.Holders.Appliers(ctx, object)...)
	}
	o.Claims.Changed = r.cluster.Holders.EnqueueConcerned(ctx, r.enqueue)
	r.slots.limit, r.slots.enqueue, r.slots.now, r.slots.metrics = 1, r.enqueue, o.Now, measured.Renders
	r.loader = &source.Loader{
		Sources: r.sources, Queue: downloads, Enqueue: r.enqueue, Now: o.Now,
		Timeout: source.DefaultLoadTimeout,
	}
	r.cluster.Kinds.Enqueue, r.pushes.Enqueue = r.enqueueSoon, r.enqueue
	return r
}

// outdated reports whether the status of a selection is older than what was published last, or whether that is not known.
func (r *CatalogSelectionReconciler) outdated(ctx context.Context, cs *v1alpha1.CatalogSelection) bool {
	last, _ := record.Read(cs)
	newer, err := r.artifacts.Newer(ctx, cs, last.PublishedRevisions(cs))
	return newer != nil || err != nil
}
