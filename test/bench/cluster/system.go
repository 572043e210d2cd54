// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

const (
	namespace  = "bench"
	catalogRef = "bench/catalog"
	sourceName = "catalog"
	shardLabel = "sharding.fluxcd.io/key"
)

// system is a stack with the controllers that are measured.
type system struct {
	*stack.Stack
	plan

	controllers []*stack.Controller
	unwatch     context.CancelFunc
	seen        *sightings
	// digest is that of the catalog that was pushed last.
	digest string
}

// start starts the servers of Flux, and the controllers with the flags of config/manager.
func start(ctx context.Context, p plan) (_ *system, err error) {
	running, err := stack.Start(ctx, stack.Options{
		Progress: os.Stderr, Registry: true, SourceController: true, KustomizeController: true, CRDs: []string{"test/stack/crds"},
	})
	if err != nil {
		return nil, err
	}
	s := &system{Stack: running, plan: p}
	ctx, s.unwatch = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if err := v1alpha1.AddToScheme(s.Client().Scheme()); err != nil {
		return nil, err
	}
	if err := s.ApplyKustomization(ctx, "config/default"); err != nil {
		return nil, err
	}
	for i := range p.shards {
		options := stack.ControllerOptions{Binary: p.binary, Args: []string{"--log-level=info"}}
		if p.shards > 1 {
			options.Name, options.Args = shard(i), append(options.Args, "--watch-label-selector="+shardLabel+"="+shard(i))
			if options.StorageAddr, err = freeAddress(ctx); err != nil {
				return nil, err
			}
		}
		controller, err := s.StartController(ctx, options)
		if err != nil {
			return nil, err
		}
		s.controllers = append(s.controllers, controller)
	}
	s.seen, err = s.watch(ctx)
	return s, err
}

// stop ends the watches first: the API server waits for them.
func (s *system) stop() error {
	s.unwatch()
	return s.Stop()
}

// freeAddress returns an address of the loopback that nothing listens at.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func shard(i int) string { return fmt.Sprintf("shard%d", i) }

// create pushes the first release of the catalog, and creates all objects.
func (s *system) create(ctx context.Context) error {
	if err := s.push(ctx, 1); err != nil {
		return err
	}
	ns, repository := &corev1.Namespace{}, &sourcev1.OCIRepository{}
	ns.Name = namespace
	repository.Name, repository.Namespace = sourceName, namespace
	repository.Spec = sourcev1.OCIRepositorySpec{
		URL: "oci://" + s.RegistryHost() + "/" + catalogRef, Insecure: true, Interval: hours,
		Reference: &sourcev1.OCIRepositoryRef{Digest: s.digest},
	}
	objects := []client.Object{ns}
	for i := range s.selections {
		objects = append(objects, s.selection(i))
		if i < s.consumers {
			objects = append(objects, kustomization(i))
		}
	}
	for _, object := range append(objects, repository) {
		if err := s.Client().Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}

// release pushes the second release of the catalog, and lets Flux pull it.
func (s *system) release(ctx context.Context) error {
	if err := s.push(ctx, 2); err != nil {
		return err
	}
	repository := &sourcev1.OCIRepository{}
	if err := s.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: sourceName}, repository); err != nil {
		return err
	}
	before := repository.DeepCopy()
	repository.Spec.Reference.Digest = s.digest
	return s.Client().Patch(ctx, repository, client.MergeFrom(before))
}

func (s *system) push(ctx context.Context, release int) error {
	dir, err := os.MkdirTemp("", "winnow-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeCatalog(dir, s.applications, release); err != nil {
		return err
	}
	pushed, err := s.PushCatalog(ctx, dir, fmt.Sprintf("%s:v%d", catalogRef, release), stack.PushOptions{})
	s.digest = pushed.String()
	s.seen.expect(s.digest)
	return err
}

// hours is an interval that does not end in a run.
var hours = metav1.Duration{Duration: 24 * time.Hour}

func selectionName(i int) string { return fmt.Sprintf("selection-%05d", i) }

// selection returns the selection of a row of applications. Those without a Kustomization are served all the same.
func (s *system) selection(i int) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = selectionName(i), namespace
	cs.Labels = map[string]string{shardLabel: shard(i % s.shards)}
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: sourceName}}
	if i >= s.consumers {
		cs.Spec.Cluster.Serve = v1alpha1.ServeAlways
	}
	cs.Spec.Limit = &v1alpha1.Limit{}
	for n := range s.selected {
		cs.Spec.Limit.NameSelector = append(cs.Spec.Limit.NameSelector, applicationName((i*7+n)%s.applications))
	}
	return cs
}

func kustomization(i int) *kustomizev1.Kustomization {
	ks := &kustomizev1.Kustomization{}
	ks.Name, ks.Namespace = selectionName(i), namespace
	ks.Spec = kustomizev1.KustomizationSpec{
		Interval: hours, Prune: true, NamePrefix: fmt.Sprintf("s%05d-", i),
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: selectionName(i)},
	}
	return ks
}
