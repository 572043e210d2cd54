// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

const shardLabel = "sharding.fluxcd.io/key"

// shards are two controllers instead of the one of all other tests. Each is the leader of its own
// lease, and serves its own artifacts.
type shards struct {
	*scenario
	controllers map[string]*stack.Controller
}

func TestShardsHandleTheirSelectionsAlone(t *testing.T) {
	s := newShards(t)
	s.add("first", "shard1")
	s.add("second", "shard2")
	s.add("third", "")
	uid := s.awaitServed("first", "shard1", 1)
	s.awaitServed("second", "shard2", 1)

	apps := catalogOf("shards")
	apps[0].values = "changed"
	s.release("v2", apps)
	s.awaitServed("first", "shard1", 2)
	s.awaitServed("second", "shard2", 2)
	s.assertStored("shard1", "first")
	s.assertStored("shard2", "second")
	third := s.named("third")
	if err := system.Client().Get(t.Context(), client.ObjectKeyFromObject(third), third); err != nil {
		t.Fatal(err)
	}
	if third.Status.ObservedGeneration > 0 || len(third.Finalizers) > 0 {
		t.Errorf("a selection without the label is handled: %+v", third)
	}

	// The other shard serves a moved selection, and the first one ignores it, because it has handled
	// later events, and removes its archives.
	s.move("first", "shard2")
	if now := s.awaitServed("first", "shard2", 2); now != uid {
		t.Errorf("the ExternalArtifact %s became %s", uid, now)
	}
	s.awaitStored("shard1")
	s.assertStored("shard2", "first", "second")
	s.move("third", "shard1")
	s.awaitServed("third", "shard1", 1)
	s.awaitServed("first", "shard2", 2)
	s.awaitServed("second", "shard2", 2)
	s.race()
}

// race has two processes select the same definitions at once: one publishes them, and the other one never has.
func (s *shards) race() {
	s.t.Helper()
	for _, name := range []string{"left", "right"} {
		s.create(s.applying(name))
	}
	s.add("left", "shard1")
	s.add("right", "shard2")
	s.await("one of two is published", func(ctx context.Context) error {
		var states []string
		for _, name := range []string{"left", "right"} {
			cs := s.named(name)
			if err := system.Client().Get(ctx, client.ObjectKeyFromObject(cs), cs); err != nil {
				return err
			}
			states = append(states, fmt.Sprintf("%s after %d publications", conditions.GetReason(cs, meta.ReadyCondition), len(cs.Status.History)))
		}
		slices.Sort(states)
		if want := []string{"Conflict after 0 publications", "Succeeded after 1 publications"}; !slices.Equal(states, want) {
			return fmt.Errorf("they are %q", states)
		}
		return nil
	})
}

// applying returns a Kustomization of the artifact of a selection.
func (s *shards) applying(name string) *kustomizev1.Kustomization {
	return &kustomizev1.Kustomization{ObjectMeta: s.named(name).ObjectMeta, Spec: kustomizev1.KustomizationSpec{
		Interval: metav1.Duration{Duration: time.Hour}, Prune: true,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: name},
	}}
}

// newShards stops the controller, starts one for each shard, and has Flux pull a catalog.
func newShards(t *testing.T) *shards {
	t.Helper()
	const name = "shards"
	s := &shards{scenario: &scenario{t: t, name: name}, controllers: map[string]*stack.Controller{}}
	s.push("v1", catalogOf(name))
	if err := system.Apply(t.Context(), []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")); err != nil {
		t.Fatal(err)
	}
	if err := system.controller.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for _, c := range s.controllers {
			err = errors.Join(err, c.Stop())
		}
		if err = errors.Join(err, system.restart(context.WithoutCancel(t.Context()), stack.ControllerOptions{})); err != nil {
			t.Fatal(err)
		}
		s.remove(s.applying("left"), s.applying("right"), s.named("first"), s.named("second"), s.named("third"), s.named("left"),
			s.named("right"), s.repository())
	})
	for _, shard := range []string{"shard1", "shard2"} {
		s.start(shard)
	}
	s.create(s.repository())
	return s
}

// start starts the controller of a shard.
func (s *shards) start(shard string) {
	s.t.Helper()
	var err error
	s.controllers[shard], err = system.StartController(s.t.Context(), stack.ControllerOptions{
		Name:        "winnow-" + shard,
		Args:        []string{"--watch-label-selector=" + shardLabel + "=" + shard, "--enable-leader-election"},
		BuildFlags:  buildFlags,
		StorageAddr: unusedAddress(s.t),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shards) named(name string) *v1alpha1.CatalogSelection {
	return &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.name}}
}

// add creates a selection of everything in a shard, or in none.
func (s *shards) add(name, shard string) {
	s.t.Helper()
	cs := s.named(name)
	cs.Spec.Interval = metav1.Duration{Duration: time.Hour}
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: s.name}}
	cs.Spec.Cluster.Serve = v1alpha1.ServeAlways // no Kustomization applies the artifacts
	if shard != "" {
		cs.Labels = map[string]string{shardLabel: shard}
	}
	s.create(cs)
}

func (s *shards) move(name, shard string) {
	s.t.Helper()
	cs := s.named(name)
	s.update(cs, func() { cs.Labels = map[string]string{shardLabel: shard} })
}

// awaitServed waits until a selection has published the number of revisions, and the shard serves the
// last one. It returns the UID of the ExternalArtifact.
func (s *shards) awaitServed(name, shard string, published int) types.UID {
	s.t.Helper()
	cs, ea := s.named(name), &sourcev1.ExternalArtifact{}
	s.await(name+" is served by "+shard, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(cs), cs); err != nil {
			return err
		}
		if !conditions.IsReady(cs) || len(cs.Status.History) != published {
			return fmt.Errorf("published %+v: %+v", cs.Status.History, cs.Status.Conditions)
		}
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(cs), ea); err != nil {
			return err
		}
		artifact := ea.Status.Artifact
		if artifact == nil || artifact.Revision != cs.Status.Artifact.Revision ||
			!strings.HasPrefix(artifact.URL, "http://"+s.controllers[shard].StorageAddr+"/") {
			return fmt.Errorf("the ExternalArtifact has %+v", artifact)
		}
		if got := s.download(ctx, artifact.URL); got != artifact.Digest {
			return fmt.Errorf("%s serves %s", artifact.URL, got)
		}
		return nil
	})
	return ea.UID
}

// assertStored checks that a shard stores the archives of exactly these selections.
func (s *shards) assertStored(shard string, want ...string) {
	s.t.Helper()
	if got := s.stored(shard); !slices.Equal(got, want) {
		s.t.Errorf("%s has stored %v, want %v", shard, got, want)
	}
}

// awaitStored waits until a shard stores the archives of exactly these selections.
func (s *shards) awaitStored(shard string, want ...string) {
	s.t.Helper()
	s.await("the archives of "+shard, func(context.Context) error {
		if got := s.stored(shard); !slices.Equal(got, want) {
			return fmt.Errorf("has %v, want %v", got, want)
		}
		return nil
	})
}

func (s *shards) stored(shard string) []string {
	s.t.Helper()
	stored := map[string]bool{}
	for _, path := range filesIn(s.t, os.DirFS(s.controllers[shard].DataDir)) {
		stored[filepath.Base(filepath.Dir(path))] = true
	}
	return slices.Sorted(maps.Keys(stored))
}
