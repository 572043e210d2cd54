// SPDX-License-Identifier: Apache-2.0

// Command winnow-controller runs the controller for CatalogSelections and serves the artifacts
// that it renders. It holds flags and wiring only.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/fluxcd/pkg/artifact/digest"
	"github.com/fluxcd/pkg/artifact/storage"
	helper "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/events"
	"github.com/fluxcd/pkg/runtime/logger"
	flag "github.com/spf13/pflag"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/winnow-dev/winnow/controllers"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	winnowmetrics "github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/serving"
	"github.com/winnow-dev/winnow/controllers/source"
)

// How long a client may take to send its request, and how long its connection may be idle.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = time.Minute
)

// version is set by the linker.
var version = "dev"

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		limitGarbage()
		logger.SetLogger(logger.NewLogger(o.log))
		err = run(ctrl.SetupSignalHandler(), o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", controllerName, err)
		os.Exit(1)
	}
}

// garbagePercent is the garbage that starts a collection, in percent of the memory in use. Go's default of 100 makes the
// resident memory twice of that while many selections are rendered.
const garbagePercent = 50

// limitGarbage sets garbagePercent, unless GOGC says otherwise.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// newRecorder returns a recorder that sends events twice at most. Workers wait for it: with the default of five times, each
// event of a publication takes 15 s while there is no notification-controller. The events of Kubernetes need none.
func newRecorder(mgr ctrl.Manager, address string) (*events.Recorder, error) {
	recorder, err := events.NewRecorder(mgr, ctrl.Log, address, controllerName)
	if err == nil {
		recorder.Client.RetryMax = 1
	}
	return recorder, err
}

func run(ctx context.Context, o *options) error {
	algorithm, err := digest.AlgorithmForName(o.artifact.ArtifactDigestAlgo)
	if err != nil {
		return fmt.Errorf("reading --artifact-digest-algo: %w", err)
	}
	digest.Canonical = algorithm
	if err := enableFeatures(&o.features); err != nil {
		return err
	}
	if err := o.jitter.SetGlobalJitter(nil); err != nil {
		return fmt.Errorf("reading --interval-jitter-percentage: %w", err)
	}
	if err := source.RemoveLeftovers(); err != nil {
		ctrl.Log.WithName("setup").Error(err, "removing the downloads that a killed process has left; they only take space")
	}
	store, err := storage.New(&o.artifact)
	if err != nil {
		return fmt.Errorf("opening the storage: %w", err)
	}
	mgr, lock, err := newManager(o)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	recorder, err := newRecorder(mgr, o.eventsAddr)
	if err != nil {
		return fmt.Errorf("creating the event recorder: %w", err)
	}
	claims, err := watchClaims(mgr, o)
	if err != nil {
		return err
	}
	pushQueue := workqueue.NewTypedRateLimitingQueueWithConfig(helper.GetRateLimiter(o.rateLimiter),
		workqueue.TypedRateLimitingQueueConfig[ctrl.Request]{Name: "push"})
	measured, err := winnowmetrics.New(ctrlmetrics.Registry, time.Now)
	if err != nil {
		return err
	}
	reconciler := controllers.New(ctx, controllers.Options{
		Name: controllerName, Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Secrets: mgr.GetClient(), Config: mgr.GetConfig(),
		Recorder: recorder, Metrics: measured, Storage: store, KindCaches: kindCaches(mgr, o.watch), DefaultServiceAccount: o.defaultServiceAccount,
		NoCrossNamespaceRefs: o.acl.NoCrossNamespaceRefs, SourceHost: os.Getenv(helper.EnvSourceLocalhost),
		CatalogCacheBytes: o.catalogCache, HTTPRetry: o.httpRetry, TokenHosts: o.tokenHosts, SettleDelay: o.settleDelay,
		PushQueue: pushQueue, Claims: claims, Now: time.Now,
	})
	if err := reconciler.SetupWithManager(ctx, mgr, helper.GetRateLimiter(o.rateLimiter)); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	for _, add := range []func(string, healthz.Checker) error{mgr.AddHealthzCheck, mgr.AddReadyzCheck} {
		if err := add("ping", healthz.Ping); err != nil {
			return fmt.Errorf("adding the health checks: %w", err)
		}
	}
	return start(ctx, mgr, o, lock.Leader)
}

// watchClaims returns a view of the claims of all selections, which is up to date while the manager runs.
func watchClaims(mgr ctrl.Manager, o *options) (*holders.View, error) {
	view := &holders.View{Now: time.Now}
	watch, err := holders.Watch(mgr.GetConfig(), watchedNamespace(o.watch), view)
	if err != nil {
		return nil, err
	}
	return view, mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { watch(ctx); return nil }))
}

// start runs the manager and the server of the artifacts, which forwards to leader until this process leads. It stops
// last: the downloads that run get five seconds to end.
func start(ctx context.Context, mgr ctrl.Manager, o *options, leader func() string) error {
	ctrl.Log.WithName("setup").Info("starting manager", "version", version)
	listener, err := net.Listen("tcp", o.artifact.StorageAddress)
	if err != nil {
		return fmt.Errorf("serving artifacts: %w", err)
	}
	downloads := downloadGrace
	if err := mgr.Add(&manager.Server{
		Name: "artifacts", Listener: listener, ShutdownTimeout: &downloads,
		Server: &http.Server{
			Handler:           serving.NewHandler(o.artifact.StoragePath, mgr.Elected(), leader),
			ReadHeaderTimeout: headerTimeout,
			IdleTimeout:       idleTimeout,
		},
	}); err != nil {
		return fmt.Errorf("adding the server of artifacts: %w", err)
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}
