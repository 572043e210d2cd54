package cluster

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/cluster/evidence"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// claimant is a selection that claims keys. Its rivals were listed at the time listed. seen is what its Kustomizations have
// applied, at has the releases that it claims at home, dormant is true if these Kustomizations are all suspended and own
// nothing: then it takes no reservation.
type claimant struct {
	uid     types.UID
	name    types.NamespacedName
	listed  time.Time
	seen    evidence.Evidence
	at      inventory.Keys
	dormant bool
}

// rival is another selection that serves or renders some of the keys.
type rival struct {
	uid       types.UID
	selection types.NamespacedName
	// keys are those that it serves.
	keys inventory.Keys
	// seen is what its Kustomizations have applied, failed reports whether one has failed, and dormant whether they
	// are suspended and own nothing.
	seen            evidence.Evidence
	failed, dormant bool
}

// reservations adds to held the holders of the keys that no Kustomization has applied, or that were given up.
// The caller holds the lock.
func (c *Cluster) reservations(by claimant, claimed, mine inventory.Keys, held map[safeguard.Key]holder, rivals []rival) {
	for key := range claimed {
		h, owned := held[key]
		if mine[key] || owned && !c.claims.givesUp(key, h) {
			continue
		}
		next, reserved := c.reservedBy(by, key, rivals)
		switch {
		case reserved && c.claims.served[next.uid][key]:
			held[key] = next // it serves the key already, even if the former holder has not published without it yet
		case owned && !c.claims.gaveUp(key, h):
		case reserved:
			held[key] = next
		default:
			delete(held, key)
		}
	}
}

// reservedBy returns the other selection that has reserved a key, if there is one. Without a reservation, the
// oldest selection that serves the key gets it. The caller holds the lock.
func (c *Cluster) reservedBy(by claimant, key safeguard.Key, rivals []rival) (holder, bool) {
	r, reserved := c.claims.reserved[key]
	if reserved && r.uid == by.uid {
		return holder{}, false
	}
	if reserved && r.since.After(by.listed) {
		return holder{selection: r.name, uid: r.uid}, true // the rivals do not have it yet
	}
	i := slices.IndexFunc(rivals, func(o rival) bool { return o.uid == r.uid || !reserved && o.keys[key] && !o.dormant })
	if !reserved && i < 0 {
		return holder{}, false
	}
	var from rival
	if i >= 0 {
		from = rivals[i]
	}
	if !reserved {
		r = reservation{from.uid, from.selection, c.Now()}
		put(&c.claims.reserved, key, r)
	}
	// It may have published since the rivals were listed.
	asked := from.keys[key] || c.claims.proposed[r.uid].keys[key] || i >= 0 && c.claims.served[r.uid][key]
	if !asked || c.revoke(by, key, r, from) {
		return holder{}, false
	}
	return holder{selection: r.name, uid: r.uid}, true
}

// revoke moves a reservation to a claimant from a selection whose Kustomization failed, or did not apply the
// key in time, and reports whether it did. The time is that of the reservation or, if it is longer, that for which the
// claimant has waited for the key: a selection that releases a key and reserves it again gains nothing. A claimant whose
// Kustomization owns a live object of the kind and namespace takes it at once from one that owns none, and any claimant takes it from one
// that is dormant: a reservation costs nothing. A selection that lost one takes none within reservationTimeout, or
// two that both fail would alternate. The caller holds the lock.
func (c *Cluster) revoke(by claimant, key safeguard.Key, r reservation, from rival) bool {
	now := c.Now()
	since := r.since
	if waiting, waits := c.claims.proposed[by.uid].waiting[key]; waits && waiting.Before(since) {
		since = waiting
	}
	squatted := from.dormant || by.seen.OwnsLike(key) && !from.seen.OwnsLike(key)
	unapplied := !from.seen.Has(key, by.at) && (from.failed && from.keys[key] || now.Sub(since) > reservationTimeout)
	if by.dormant || !squatted && (!unapplied || now.Sub(c.claims.revoked[by.uid]) <= reservationTimeout) {
		return false
	}
	put(&c.claims.revoked, r.uid, now)
	put(&c.claims.reserved, key, reservation{by.uid, by.name, now})
	delete(c.claims.proposed, r.uid) // it has to propose again
	return true
}
