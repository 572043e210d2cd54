// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// originKey is the key in the metadata of an artifact with the revisions of its sources.
const originKey = "org.opencontainers.image.revision"

// sightings are the times at which this process saw a catalog first: in the source, and by selection in the
// ExternalArtifacts and in what the Kustomizations have applied.
type sightings struct {
	mu        sync.Mutex
	digest    string
	ready     time.Time
	published map[string]time.Time
	applied   map[string]time.Time
}

// expect forgets all times, and waits for the catalog with the digest from now on.
func (s *sightings) expect(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digest, s.ready = digest, time.Time{}
	s.published, s.applied = map[string]time.Time{}, map[string]time.Time{}
}

// see notes the time of an object that has the catalog.
func (s *sightings) see(object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch o := object.(type) {
	case *sourcev1.OCIRepository:
		if s.ready.IsZero() && o.Status.Artifact != nil && s.has(o.Status.Artifact.Revision) {
			s.ready = now
		}
	case *sourcev1.ExternalArtifact:
		if o.Status.Artifact != nil && s.has(o.Status.Artifact.Metadata[originKey]) && s.published[o.Name].IsZero() {
			s.published[o.Name] = now
		}
	case *kustomizev1.Kustomization:
		if s.has(o.Status.LastAppliedOriginRevision) && s.applied[o.Name].IsZero() {
			s.applied[o.Name] = now
		}
	}
}

func (s *sightings) has(revision string) bool {
	return s.digest != "" && strings.Contains(revision, s.digest)
}

// counts returns the number of ExternalArtifacts and of Kustomizations with the catalog.
func (s *sightings) counts() (published, applied int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.published), len(s.applied)
}

// delays are the times from the ready source to the ExternalArtifacts, and from these to the applied Kustomizations, sorted.
func (s *sightings) delays() (publish, apply []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.published {
		publish = append(publish, at.Sub(s.ready))
	}
	for name, at := range s.applied {
		apply = append(apply, at.Sub(s.published[name]))
	}
	slices.Sort(publish)
	slices.Sort(apply)
	return publish, apply
}

// watch watches the objects of the namespace until the context ends.
func (s *system) watch(ctx context.Context) (*sightings, error) {
	seen := &sightings{published: map[string]time.Time{}, applied: map[string]time.Time{}}
	watched, err := cache.New(s.RESTConfig(), cache.Options{
		Scheme: s.Client().Scheme(), DefaultNamespaces: map[string]cache.Config{namespace: {}},
	})
	if err != nil {
		return nil, err
	}
	handler := toolscache.ResourceEventHandlerFuncs{AddFunc: seen.see, UpdateFunc: func(_, newer any) { seen.see(newer) }}
	for _, kind := range []client.Object{&sourcev1.OCIRepository{}, &sourcev1.ExternalArtifact{}, &kustomizev1.Kustomization{}} {
		informer, err := watched.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	go func() { _ = watched.Start(ctx) }() // which ends with the context
	if !watched.WaitForCacheSync(ctx) {
		return nil, errors.New("watching the objects: the caches did not sync")
	}
	return seen, nil
}

// percentile returns the smallest of sorted values that p percent of them do not exceed; zero without any.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
