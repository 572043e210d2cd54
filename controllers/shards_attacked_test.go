// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// onceClaimed calls f before the first request after the claim, and prevents it by the error.
func (s *shard) onceClaimed(f func() error) {
	s.turn = func() error {
		if !s.claims() {
			return nil
		}
		s.turn = nil
		err := f()
		if err != nil {
			s.turn = func() error { return err } // the process has ended
		}
		return err
	}
	s.run()
	s.turn = nil
}

// claims reports whether the selection has written what it is about to publish.
func (s *shard) claims() bool {
	claims := s.get(s.name).Status.Claim
	return claims != nil && claims.Pending
}

// claim leaves a claim of a process that ended before it has published.
func (s *shard) claim() {
	s.Helper()
	s.onceClaimed(func() error { return context.Canceled })
	if !s.claims() || s.announces() {
		s.Fatalf("%s has claimed nothing, or published", s.name)
	}
}

// beta is younger, and comes after the claim of alpha.
func TestAClaimOfAShardThatDoesNotPublish(t *testing.T) {
	for _, test := range []struct {
		name  string
		then  func(alpha, beta *shard)
		ready bool
	}{
		{"of a process that ended a moment ago", func(*shard, *shard) {}, false},
		{"of a process that ended ten minutes ago", func(_, beta *shard) {
			beta.run()
			beta.pass(11 * time.Minute)
		}, true},
		{"of a selection that is suspended", func(alpha, _ *shard) {
			alpha.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		}, true},
		{"of a selection that is edited, and not evaluated yet", func(alpha, _ *shard) {
			alpha.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "missing" })
		}, true},
		{"of a selection that is deleted", func(alpha, _ *shard) { alpha.remove(alpha.get("alpha")) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			alpha, beta := newShards(t)
			alpha.claim()
			test.then(alpha, beta)
			beta.run()
			want := stalled("Conflict")
			if test.ready {
				want = []string{"Ready=True Succeeded"}
			}
			beta.equal("conditions", conditionsOf(beta.get("beta")), want)
			beta.equal("announced", beta.announces(), test.ready)
		})
	}
}

// The older one has nothing to wait for: what the younger one has claimed and not published is spoilt.
func TestAnOlderSelectionSpoilsTheClaimOfAYoungerOne(t *testing.T) {
	alpha, beta := newShards(t)
	beta.claim()
	alpha.run()
	beta.restart()
	beta.run()
	assertOne(t, alpha, beta)
}

// A process that was frozen after its claim, while the ten minutes end, cannot publish by it.
func TestAFrozenShardDoesNotPublishByALostClaim(t *testing.T) {
	alpha, beta := newShards(t)
	alpha.onceClaimed(func() error {
		beta.run()
		beta.pass(11 * time.Minute)
		beta.run()
		beta.ready("beta")
		return nil
	})
	alpha.run()
	assertOne(t, beta, alpha)
}

// Where both have claimed, and neither has read, the older one goes on.
func TestTheOlderOfTwoShardsThatClaimAtOncePublishes(t *testing.T) {
	alpha, beta := newShards(t)
	alpha.onceClaimed(func() error {
		beta.onceClaimed(func() error { return nil })
		return nil
	})
	alpha.run()
	beta.run()
	assertOne(t, alpha, beta)
}

// Without the field in the CRD, other shards see no claim.
func TestAShardNeedsTheFieldOfItsClaims(t *testing.T) {
	alpha, _ := newShards(t)
	alpha.drops = true
	alpha.run()
	alpha.equal("conditions", conditionsOf(alpha.get("alpha")), retried("StorageFailed"))
	alpha.equal("announced", alpha.announces(), false)
	alpha.mentions("Ready", alpha.message("alpha"), "apply the CustomResourceDefinition of this release")
}

// The watch of a process may lack the Kustomization of a selection of another shard, whose status names it. Here it is one
// that is gone.
func TestAKustomizationThatOnlyTheOtherShardHasSeen(t *testing.T) {
	alpha, beta := newShards(t)
	alpha.run()
	alpha.remove(alpha.kustomization("alpha"))
	beta.run()
	beta.equal("conditions", conditionsOf(beta.get("beta")), stalled("Conflict"))
	alpha.settle("alpha")
	beta.settle("beta")
	beta.ready("beta")
}

// A selection that changes its shard keeps what it publishes, also before the cache of the new shard has it.
func TestASelectionThatComesToAShardKeepsWhatItPublishes(t *testing.T) {
	alpha, beta := newShards(t)
	alpha.run()
	beta.hidden = "alpha"
	alpha.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Labels[shardLabel] = "beta" })
	beta.run()
	beta.equal("conditions", conditionsOf(beta.get("beta")), stalled("Conflict"))
	beta.equal("announced", beta.announces(), false)
}
