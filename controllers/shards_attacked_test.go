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
		if len(s.get(s.name).Status.Claims) == 0 {
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

// claim leaves a claim of a process that ended before it has published.
func (s *shard) claim() {
	s.Helper()
	s.onceClaimed(func() error { return context.Canceled })
	if len(s.get(s.name).Status.Claims) == 0 || s.announces() {
		s.Fatalf("%s has claimed nothing, or published", s.name)
	}
}

// alpha is older, and comes after the claim of beta.
func TestAClaimOfAShardThatDoesNotPublish(t *testing.T) {
	for _, test := range []struct {
		name  string
		then  func(alpha, beta *shard)
		ready bool
	}{
		{"of a process that ended a moment ago", func(*shard, *shard) {}, false},
		{"of a process that ended ten minutes ago", func(alpha, _ *shard) {
			alpha.run()
			alpha.passed += 11 * time.Minute
		}, true},
		{"of a selection that is suspended", func(_, beta *shard) {
			beta.change("beta", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		}, true},
		{"of a selection that is deleted", func(_, beta *shard) { beta.remove(beta.get("beta")) }, true},
		{"of a status that is restored, until its shard has read it", func(_, beta *shard) {
			claimed := beta.recreateWithStatus("beta")
			beta.equal("restored", len(claimed.Status.Claims) > 0, true)
		}, false},
		{"of a status that is restored", func(_, beta *shard) {
			beta.recreateWithStatus("beta")
			beta.change("beta", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "missing" })
			beta.restart()
			beta.run()
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			alpha, beta := newShards(t)
			beta.claim()
			test.then(alpha, beta)
			alpha.run()
			want := stalled("Conflict")
			if test.ready {
				want = []string{"Ready=True Succeeded"}
			}
			alpha.equal("conditions", conditionsOf(alpha.get("alpha")), want)
			alpha.equal("announced", alpha.announces(), test.ready)
		})
	}
}

// recreateWithStatus replaces the selection by one with another UID and the same status.
func (s *shard) recreateWithStatus(name string) *v1alpha1.CatalogSelection {
	s.Helper()
	old := s.get(name)
	s.remove(s.get(name))
	s.selection(name, compared, func(cs *v1alpha1.CatalogSelection) { cs.Labels = old.Labels })
	s.restoreStatus(name, old)
	return s.get(name)
}

// A process that was frozen after its claim, while the ten minutes end, cannot publish by it.
func TestAFrozenShardDoesNotPublishByALostClaim(t *testing.T) {
	alpha, beta := newShards(t)
	beta.onceClaimed(func() error {
		alpha.run()
		alpha.passed += 11 * time.Minute
		alpha.run()
		alpha.ready("alpha")
		return nil
	})
	beta.run()
	assertOne(t, alpha, beta)
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
