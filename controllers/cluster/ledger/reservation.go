// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/cluster/evidence"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claimant is a selection that claims keys. Its rivals were listed at the time Listed. Seen is what its Kustomizations have
// applied, At has the releases that it claims at home, Dormant is true if these Kustomizations are all suspended and own
// nothing: then it takes no reservation.
type Claimant struct {
	UID     types.UID
	Name    types.NamespacedName
	Listed  time.Time
	Seen    evidence.Evidence
	At      inventory.Keys
	Dormant bool
}

// Rival is another selection that serves or renders some of the keys.
type Rival struct {
	UID       types.UID
	Selection types.NamespacedName
	// Keys are those that it serves.
	Keys inventory.Keys
	// Elsewhere is true for a selection of another shard, of which this process knows no reservation; Proposed are the keys that
	// it is about to publish.
	Elsewhere bool
	Proposed  inventory.Keys
	// Yields reports whether its ExternalArtifact names no artifact because of a conflict, according to its cached status: then
	// it has nothing reserved.
	Yields bool
	// Seen is what its Kustomizations have applied, Failed reports whether one has failed, and Dormant whether they
	// are suspended and own nothing.
	Seen            evidence.Evidence
	Failed, Dormant bool
}

func (r Rival) claims(key safeguard.Key) bool { return r.Keys[key] || r.Proposed[key] }

// isElsewhere reports whether a selection of another shard publishes or proposes a reserved key, which is not the one that the
// reservation was taken from.
func (r reservation) isElsewhere(key safeguard.Key, rivals []Rival) bool {
	return slices.ContainsFunc(rivals, func(o Rival) bool { return o.Elsewhere && o.UID != r.from && o.claims(key) })
}

// reservations adds to held the holders of the keys that no Kustomization has applied, or that were given up.
// The caller holds the lock.
func (l *Ledger) reservations(by Claimant, claimed, mine inventory.Keys, held map[safeguard.Key]Holder, rivals []Rival) {
	for key := range claimed {
		h, owned := held[key]
		if mine[key] || owned && !l.givesUp(key, h) {
			continue
		}
		next, reserved := l.reservedBy(by, key, rivals)
		switch {
		case reserved && l.served[next.UID][key]:
			held[key] = next // it serves the key already, even if the former holder has not published without it yet
		case owned && !l.gaveUp(key, h):
		case reserved:
			held[key] = next
		default:
			delete(held, key)
		}
	}
}

// reservedBy returns the other selection that has reserved a key, if there is one. Without a reservation, the
// oldest selection that serves the key gets it. The caller holds the lock.
func (l *Ledger) reservedBy(by Claimant, key safeguard.Key, rivals []Rival) (Holder, bool) {
	r, reserved := l.reserved[key]
	if reserved && r.uid == by.UID {
		if !r.isElsewhere(key, rivals) {
			return Holder{}, false
		}
		r, reserved = reservation{}, false
	}
	if reserved && r.since.After(by.Listed) {
		return Holder{Selection: r.name, UID: r.uid}, true // the rivals do not have it yet
	}
	from, listed := l.rivalFor(key, r, rivals)
	if !reserved && !listed {
		return Holder{}, false
	}
	if !reserved {
		r = reservation{uid: from.UID, name: from.Selection, since: l.Now()}
		put(&l.reserved, key, r)
	}
	// It may have published since the rivals were listed.
	asked := from.claims(key) || l.proposed[r.uid].keys[key] || listed && l.served[r.uid][key]
	if !asked || l.revoke(by, key, r, from) {
		return Holder{}, false
	}
	return Holder{Selection: r.name, UID: r.uid}, true
}

// rivalFor returns the rival that has reserved a key, or without a reservation the oldest one that serves it. One that yields
// counts once it has published again. The caller holds the lock.
func (l *Ledger) rivalFor(key safeguard.Key, r reservation, rivals []Rival) (Rival, bool) {
	i := slices.IndexFunc(rivals, func(o Rival) bool {
		return (!o.Yields || l.resumed[o.UID]) && (o.UID == r.uid || r.uid == "" && o.claims(key) && !o.Dormant)
	})
	if i < 0 {
		return Rival{}, false
	}
	return rivals[i], true
}

// revoke moves a reservation to a claimant from a selection whose Kustomization failed, or did not apply the
// key in time, and reports whether it did. The time is that of the reservation or, if it is longer, that for which the
// claimant has waited for the key: a selection that releases a key and reserves it again gains nothing. A claimant whose
// Kustomization owns a live object of the kind and namespace takes it at once from one that owns none, and any claimant takes it from one
// that is dormant: a reservation costs nothing. A selection that lost one takes none within reservationTimeout, or
// two that both fail would alternate. The caller holds the lock.
func (l *Ledger) revoke(by Claimant, key safeguard.Key, r reservation, from Rival) bool {
	now := l.Now()
	since := r.since
	if waiting, waits := l.proposed[by.UID].waiting[key]; waits && waiting.Before(since) {
		since = waiting
	}
	squatted := from.Dormant || by.Seen.OwnsLike(key) && !from.Seen.OwnsLike(key)
	unapplied := !from.Seen.Has(key, by.At) && (from.Failed && from.Keys[key] || now.Sub(since) > reservationTimeout)
	if by.Dormant || !squatted && (!unapplied || now.Sub(l.revoked[by.UID]) <= reservationTimeout) {
		return false
	}
	put(&l.revoked, r.uid, now)
	put(&l.reserved, key, reservation{by.UID, by.Name, now, r.uid})
	delete(l.proposed, r.uid) // it has to propose again
	return true
}

// Claim proposes the claimed keys, and returns the selections that are admitted together with the claimant. The error is a
// *ConflictError while others hold some of the keys. held are the holders by live objects, to which Claim adds those of
// reservations, and mine are the keys that the claimant has applied.
func (l *Ledger) Claim(by Claimant, claimed, mine inventory.Keys, held map[safeguard.Key]Holder, rivals []Rival) ([]types.NamespacedName, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reservations(by, claimed, mine, held, rivals)
	l.propose(by.UID, proposal{name: by.Name, keys: claimed, holders: held}, l.Now())
	admitted := l.admissible()
	if by.Dormant {
		defer delete(l.proposed, by.UID) // it goes on waiting for what it awaits
	}
	if !admitted[by.UID] {
		blocking, blocked := l.blocked(by.UID, admitted)
		if !blocked {
			blocking = l.rivalsOf(by.UID, admitted)
		}
		l.await(by.Name, blocking)
		return nil, conflict(blocking)
	}
	delete(l.waiting, by.Name)
	for key := range claimed {
		if r := l.reserved[key]; !mine[key] && r.uid != by.UID && !by.Dormant {
			put(&l.reserved, key, reservation{uid: by.UID, name: by.Name, since: l.Now()})
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	var together []types.NamespacedName
	for uid := range admitted {
		if p := l.proposed[uid]; uid != by.UID {
			together = append(together, p.name)
		}
	}
	return together, nil
}

// Contest returns a *ConflictError if one of the holders of live objects does not release its key in an admitted proposal.
func (l *Ledger) Contest(uid types.UID, name types.NamespacedName, held map[safeguard.Key]Holder) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	admitted := l.admissible()
	maps.DeleteFunc(held, func(key safeguard.Key, h Holder) bool { return l.released(key, h, admitted) })
	if len(held) == 0 {
		return nil
	}
	delete(l.resumed, uid)
	l.await(name, held)
	return conflict(held)
}
