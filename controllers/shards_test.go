// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const shardLabel = "sharding.fluxcd.io/key"

// shard is a controller of a cluster that reconciles the selection of the same name alone.
type shard struct {
	*liveCluster
	name string
	// turn runs before each request, and prevents it by an error; nil for none.
	turn func() error
	// drops makes the API server drop status.claim, as one with an older CRD does.
	drops bool
	// hidden is a selection that the cache does not have yet.
	hidden string
}

// ofShard lists the selections of a shard.
type ofShard struct {
	client.WithWatch
	shard *shard
}

// List implements client.Reader.
func (o ofShard) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	selections, ok := list.(*v1alpha1.CatalogSelectionList)
	if !ok {
		return o.WithWatch.List(ctx, list, opts...)
	}
	err := o.WithWatch.List(ctx, list, append(opts, client.MatchingLabels{shardLabel: o.shard.name})...)
	selections.Items = slices.DeleteFunc(selections.Items, func(cs v1alpha1.CatalogSelection) bool { return cs.Name == o.shard.hidden })
	return err
}

// newShards returns two controllers with a selection of argocd each, which have a Kustomization. Of the same second, beta is
// younger by its name.
func newShards(t *testing.T) (alpha, beta *shard) {
	c := newCluster(t)
	c.catalog("argocd")
	for _, name := range []string{"alpha", "beta"} {
		c.selection(name, compared, func(cs *v1alpha1.CatalogSelection) { cs.Labels = map[string]string{shardLabel: name} })
		c.consumer(name, name, pruning)
	}
	return c.shard("alpha"), c.shard("beta")
}

func (c *liveCluster) shard(name string) *shard {
	c.Helper()
	e := *c.environment
	e.clock, e.followed = &clock{}, nil
	e.clock.Store(c.clock.Load())
	e.events, e.traffic, e.log = &recorder{}, &traffic{}, &logLines{}
	e.storage = &storage.Storage{BasePath: c.TempDir(), Hostname: name + ".example", ArtifactRetentionTTL: time.Minute, ArtifactRetentionRecords: 2}
	s := &shard{liveCluster: &liveCluster{environment: &e, group: c.group, wire: &wire{}}, name: name}
	s.restart()
	return s
}

// restart replaces the process of the shard.
func (s *shard) restart() {
	s.Helper()
	turn := func() error {
		if s.turn == nil {
			return nil
		}
		return s.turn()
	}
	read := func(ctx context.Context) error {
		if ctx.Value(ofRun{}) == nil { // the watch of claims asks for selections as well
			return nil
		}
		return turn()
	}
	requests := func(sender client.WithWatch) client.WithWatch {
		return interceptor.NewClient(sender, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
				if err := read(ctx); err != nil {
					return err
				}
				return c.Get(ctx, key, object, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if err := read(ctx); err != nil {
					return err
				}
				return c.List(ctx, list, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				if cs, ok := object.(*v1alpha1.CatalogSelection); ok && s.drops {
					cs.Status.Claim = nil
				}
				return c.SubResource(sub).Patch(ctx, object, patch, opts...)
			},
		})
	}
	s.traffic.before = func(string, client.Object) error { return turn() }
	own := ownSelections{apiServer, s.namespaces}
	s.restartWith(func(o *Options) {
		o.Client, o.APIReader = s.traffic.through(requests(ofShard{own, s})), requests(own)
	})
	s.actAs(restConfig, "")
}

// ofRun is the key of contexts of a reconciliation.
type ofRun struct{}

// run reconciles until the selection is ready, or waits for another one.
func (s *shard) run() {
	for range 6 {
		if _, err := s.reconcileIn(context.WithValue(s.context(), ofRun{}, true), s.name); err != nil {
			return // the process has ended
		}
		if reason := conditions.GetReason(s.get(s.name), meta.ReadyCondition); reason == meta.SucceededReason || reason == v1alpha1.ConflictReason {
			return
		}
	}
}

// announces reports whether Flux could fetch the artifact of the shard.
func (s *shard) announces() bool {
	announced := s.announced(s.name)
	return announced != nil && announced.Status.Artifact != nil
}

// assertOne checks that one shard has published, and that the other one says why not.
func assertOne(t *testing.T, winner, loser *shard) {
	t.Helper()
	winner.equal("conditions of "+winner.name, conditionsOf(winner.get(winner.name)), []string{"Ready=True Succeeded"})
	loser.equal("conditions of "+loser.name, conditionsOf(loser.get(loser.name)), stalled("Conflict"))
	if !winner.announces() || loser.announces() {
		t.Errorf("%s announces an artifact: %v, and %s: %v", winner.name, winner.announces(), loser.name, loser.announces())
	}
	if got := loser.message(loser.name); !strings.Contains(got, "the CatalogSelection "+loser.namespace+"/"+winner.name+" holds argocd") {
		t.Errorf("the message of %s is %q", loser.name, got)
	}
}

func TestTheFirstOfTwoShardsPublishes(t *testing.T) {
	alpha, beta := newShards(t)
	beta.run()
	alpha.run()
	assertOne(t, beta, alpha)
	// After the restart, the ledger of the process is empty.
	for _, s := range []*shard{alpha, beta} {
		s.restart()
		s.run()
	}
	assertOne(t, beta, alpha)
	beta.remove(beta.get("beta"))
	alpha.pass(time.Minute)
	alpha.run()
	alpha.ready("alpha")
}

// race runs two shards at once. schedule decides whose request is next, and after how many of its requests a process is
// killed; it then starts anew, once the other one has ended.
func race(schedule *rand.Rand, shards ...*shard) {
	asked, ended := make(chan *shard), make(chan *shard)
	next, crash := map[*shard]chan bool{}, map[*shard]int{}
	for _, s := range shards {
		next[s], crash[s] = make(chan bool), schedule.IntN(120)
		s.turn = func() error {
			asked <- s
			if <-next[s] {
				return nil
			}
			return context.Canceled
		}
		go func() {
			s.run()
			ended <- s
		}()
	}
	var waiting []*shard
	for running := len(shards); running > 0; {
		for len(waiting) < running {
			select {
			case s := <-asked:
				waiting = append(waiting, s)
			case <-ended:
				running--
			}
		}
		if running > 0 {
			i := schedule.IntN(len(waiting))
			s := waiting[i]
			waiting = slices.Delete(waiting, i, i+1)
			crash[s]--
			next[s] <- crash[s] > 0
		}
	}
	for _, s := range shards {
		s.turn = nil
	}
}

// However the requests of two processes interleave, and wherever one of them ends, one publishes the object.
func TestTwoShardsRaceForAnObject(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			alpha, beta := newShards(t)
			race(rand.New(rand.NewPCG(seed, 0)), alpha, beta)
			if alpha.announces() && beta.announces() {
				t.Fatal("both announce the object")
			}
			for range 2 {
				for _, s := range []*shard{alpha, beta} {
					s.restart()
					s.run()
				}
			}
			if beta.announces() {
				alpha, beta = beta, alpha
			}
			assertOne(t, alpha, beta)
		})
	}
}
