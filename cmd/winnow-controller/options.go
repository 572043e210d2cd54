// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	artifactconfig "github.com/fluxcd/pkg/artifact/config"
	"github.com/fluxcd/pkg/auth"
	"github.com/fluxcd/pkg/runtime/acl"
	fluxclient "github.com/fluxcd/pkg/runtime/client"
	helper "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/features"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/leaderelection"
	"github.com/fluxcd/pkg/runtime/logger"
	"github.com/fluxcd/pkg/runtime/pprof"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	flag "github.com/spf13/pflag"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/serving"
	"github.com/winnow-dev/winnow/registry/realm"
)

const controllerName = "winnow-controller"

// How long what runs may take to end after SIGTERM, and downloads as a part of it. The request that releases the lease
// comes after that, and takes half of the renew deadline at most.
const (
	shutdownGrace = 15 * time.Second
	downloadGrace = 5 * time.Second
)

// options are the flags, named as in Flux's controllers.
type options struct {
	metricsAddr, eventsAddr, healthAddr string
	concurrent, httpRetry               int
	catalogCache                        int64
	defaultServiceAccount               string
	settleDelay                         time.Duration
	tokenHosts                          realm.Hosts

	features       features.FeatureGates
	acl            acl.Options
	artifact       artifactconfig.Options
	client         fluxclient.Options
	jitter         jitter.IntervalOptions
	leaderElection leaderelection.Options
	log            logger.Options
	rateLimiter    helper.RateLimiterOptions
	watch          helper.WatchOptions
}

func parse(args []string) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet(controllerName, flag.ContinueOnError)
	fs.StringVar(&o.metricsAddr, "metrics-addr", ":8080", "The address the metric endpoint binds to.")
	fs.StringVar(&o.eventsAddr, "events-addr", "", "The address of the events receiver.")
	fs.StringVar(&o.healthAddr, "health-addr", ":9440", "The address the health endpoint binds to.")
	fs.Var(&o.tokenHosts, realm.Flag,
		"A list of HOST or HOST:PORT that issue tokens of registries, and may have an internal address or, on a registry's host, another port without TLS.")
	fs.IntVar(&o.concurrent, "concurrent", 4, "The number of concurrent reconciles.")
	fs.IntVar(&o.httpRetry, "http-retry", 9,
		"The maximum number of retries when failing to fetch artifacts over HTTP.")
	fs.Int64Var(&o.catalogCache, "catalog-cache-bytes", 256<<20,
		"The maximum size in bytes of the parsed catalogs that are kept in memory.")
	fs.StringVar(&o.defaultServiceAccount, "default-service-account", "",
		"Default service account used for impersonation when definitions are marked.")
	fs.DurationVar(&o.settleDelay, "settle-delay", 30*time.Second,
		"The minimum age of an edit of a CatalogSelection that removes applications or versions: Flux applies sources of the same commit later.")
	o.acl.BindFlags(fs)
	o.artifact.BindFlags(fs)
	o.client.BindFlags(fs)
	o.features.BindFlags(fs)
	o.jitter.BindFlags(fs)
	o.leaderElection.BindFlags(fs)
	o.log.BindFlags(fs)
	o.rateLimiter.BindFlags(fs)
	bindWatchFlags(fs, &o.watch)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if len(fs.Args()) > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return o, nil
}

// bindWatchFlags binds Flux's flags for watches, except those for Secrets and ConfigMaps, which Winnow does
// not watch.
func bindWatchFlags(fs *flag.FlagSet, o *helper.WatchOptions) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	o.BindFlags(all)
	fs.AddFlag(all.Lookup("watch-all-namespaces"))
	fs.AddFlag(all.Lookup("watch-label-selector"))
}

// enableFeatures reads --feature-gates. ObjectLevelWorkloadIdentity allows a serviceAccountName together
// with the provider of a cloud, as in Flux's controllers.
func enableFeatures(gates *features.FeatureGates) error {
	supported := map[string]bool{}
	auth.SetFeatureGates(supported)
	if err := gates.SupportedFeatures(supported); err != nil {
		return fmt.Errorf("reading --feature-gates: %w", err)
	}
	if supported[auth.FeatureGateObjectLevelWorkloadIdentity] {
		auth.EnableObjectLevelWorkloadIdentity()
	}
	return nil
}

// podIP is the variable with the IP of the pod, at which its other replicas reach it.
const podIP = "POD_IP"

// newManager returns the manager, and the lock for which it competes if leader election is enabled.
func newManager(o *options) (ctrl.Manager, *serving.Lock, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{authorizationv1.AddToScheme, corev1.AddToScheme, kustomizev1.AddToScheme, sourcev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	caches, err := cacheOptions(o.watch)
	if err != nil {
		return nil, nil, err
	}
	electionID := controllerName + "-leader-election"
	if o.watch.LabelSelector != "" {
		electionID = leaderelection.GenerateID(electionID, o.watch.LabelSelector)
	}
	config := fluxclient.GetConfigOrDie(o.client)
	lock, err := newLock(o, config, electionID)
	if err != nil {
		return nil, nil, err
	}
	recoverPanic, grace := true, shutdownGrace
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  caches,
		// Secrets and ServiceAccounts are read by name, one at a time, and never listed.
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ServiceAccount{}}}},
		Logger:                        ctrl.Log,
		HealthProbeBindAddress:        o.healthAddr,
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddr, ExtraHandlers: pprof.GetHandlers()},
		LeaderElection:                o.leaderElection.Enable,
		LeaderElectionReleaseOnCancel: o.leaderElection.ReleaseOnCancel,
		LeaderElectionID:              electionID,
		// It ignores the namespace and the ID, but for the label of metrics.
		LeaderElectionResourceLockInterface: lock,
		LeaseDuration:                       &o.leaderElection.LeaseDuration,
		RenewDeadline:                       &o.leaderElection.RenewDeadline,
		RetryPeriod:                         &o.leaderElection.RetryPeriod,
		GracefulShutdownTimeout:             &grace,
		Controller: controllerconfig.Controller{
			MaxConcurrentReconciles: o.concurrent,
			RecoverPanic:            &recoverPanic,
		},
	})
	return mgr, lock, err
}

// newLock returns the lease of the leader.
func newLock(o *options, config *rest.Config, id string) (*serving.Lock, error) {
	address, err := serving.PodAddress(os.Getenv(podIP), o.artifact.StorageAddress)
	if err != nil {
		return nil, err
	}
	namespace := os.Getenv(helper.EnvRuntimeNamespace)
	if namespace == "" && o.leaderElection.Enable {
		return nil, fmt.Errorf("--enable-leader-election needs the namespace of the pod in %s", helper.EnvRuntimeNamespace)
	}
	return serving.NewLock(serving.LockOptions{
		Namespace: namespace, Name: id, Config: config,
		RenewDeadline: o.leaderElection.RenewDeadline, Address: address,
	})
}

// cacheOptions restricts watches to the runtime namespace, and watches of CatalogSelections by label. The caches keep no
// managed fields: nothing reads them, and they are a third of the bytes of a CatalogSelection.
func cacheOptions(o helper.WatchOptions) (cache.Options, error) {
	selector, err := helper.GetWatchSelector(o)
	if err != nil {
		return cache.Options{}, fmt.Errorf("reading --watch-label-selector: %w", err)
	}
	return cache.Options{
		ByObject:          map[client.Object]cache.ByObject{&v1alpha1.CatalogSelection{}: {Label: selector}},
		DefaultTransform:  cache.TransformStripManagedFields(),
		DefaultNamespaces: watchedNamespaces(o),
	}, nil
}

// watchedNamespace returns the only namespace that is watched; empty if all are.
func watchedNamespace(o helper.WatchOptions) string {
	if o.AllNamespaces {
		return ""
	}
	return os.Getenv(helper.EnvRuntimeNamespace)
}

// watchedNamespaces returns the only namespace that is watched for caches; nil if all are.
func watchedNamespaces(o helper.WatchOptions) map[string]cache.Config {
	if namespace := watchedNamespace(o); namespace != "" {
		return map[string]cache.Config{namespace: {}}
	}
	return nil
}

// kindCaches returns the options of the caches for kinds that may be missing: Kustomizations, in the
// watched namespaces, and definitions, which are cluster-scoped.
func kindCaches(mgr ctrl.Manager, o helper.WatchOptions) cache.Options {
	return cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(), DefaultNamespaces: watchedNamespaces(o),
	}
}
