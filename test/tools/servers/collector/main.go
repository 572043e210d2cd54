// SPDX-License-Identifier: Apache-2.0

// Command collector runs the controllers of kube-controller-manager that delete: the garbage collector, which follows owner
// references, and the controller of namespaces. The whole kube-controller-manager needs the packages of the kubelet.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
)

const (
	workers      = 2
	startTimeout = time.Minute
	// syncPeriod is the interval at which the garbage collector looks for kinds that have come or gone: 30 s in Kubernetes.
	syncPeriod = 2 * time.Second
)

// main takes the address of the probe /healthz as its argument, and the cluster from KUBECONFIG.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "collector:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	typed, untyped := informers.NewSharedInformerFactory(client, 0), metadatainformer.NewSharedInformerFactory(objects, 0)
	started := make(chan struct{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	collector, err := garbagecollector.NewGarbageCollector(ctx, client, objects, mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(typed, untyped), started)
	if err != nil {
		return err
	}
	namespaces := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources,
		typed.Core().V1().Namespaces(), 0, corev1.FinalizerKubernetes)
	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
	close(started)
	go collector.Run(ctx, workers, startTimeout)
	go collector.Sync(ctx, client.Discovery(), syncPeriod)
	go namespaces.Run(ctx, workers)
	return probe(ctx, address)
}

// probe answers until the context ends.
func probe(ctx context.Context, address string) error {
	server := &http.Server{Addr: address, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
	})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
