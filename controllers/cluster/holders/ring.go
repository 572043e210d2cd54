// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// ring decides which selections give up an object, so that a ring of swaps goes ahead as a whole or not at all. It serves one decision.
type ring struct {
	view *View
	// mine are the keys that the deciding selection would give up.
	mine map[Digest]bool
	// free maps a selection to the result of isFree.
	free map[types.UID]bool
}

func newRing(view *View, mine map[Digest]bool) *ring {
	return &ring{view: view, mine: mine, free: map[types.UID]bool{}}
}

// givesUp reports whether a selection gives up a key: its publication lacks the key, or will lack it, because everything that the
// selection waits for is given up as well.
func (r *ring) givesUp(c *Claimant, key Digest) bool {
	if c.given[key] || !c.givesUp(key) {
		return c.given[key]
	}
	if _, known := r.free[c.UID]; !known {
		r.free[c.UID] = r.isFree(c, map[types.UID]bool{})
	}
	return r.free[c.UID]
}

// isFree reports whether all that a selection waits for is given up. Those that are asked already count as free.
func (r *ring) isFree(c *Claimant, asked map[types.UID]bool) bool {
	asked[c.UID] = true
	for key := range c.waits {
		others := slices.DeleteFunc(r.view.having(key), func(other *Claimant) bool { return other.UID == c.UID })
		if slices.ContainsFunc(others, func(other *Claimant) bool { return other.published[key] && !other.givesUp(key) && !r.mine[key] }) {
			return false
		}
		if !r.mine[key] && !slices.ContainsFunc(others, func(other *Claimant) bool {
			return other.givesUp(key) && (other.given[key] || asked[other.UID] || r.isFree(other, asked))
		}) {
			return false
		}
	}
	return true
}
