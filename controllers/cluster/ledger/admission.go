// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// keeps reports whether the latest render of a selection that has passed the guard contains a key. known is
// false for a selection of another process.
func (l *Ledger) keeps(uid types.UID, key safeguard.Key) (keeps, known bool) {
	keys, known := l.passed(uid)
	return keys[key], known
}

// passed returns the keys of that render, and whether it is known.
func (l *Ledger) passed(uid types.UID) (inventory.Keys, bool) {
	if p, ok := l.proposed[uid]; ok {
		return p.keys, true
	}
	served, ok := l.served[uid]
	return served, ok
}

// admissible returns the proposals that may be published: each of their keys is free, or its holder releases it
// in a proposal that is admissible as well, so that a swap is admitted as a whole or not at all. Of several
// proposals that claim one key, the earliest is admitted, unless it waits for what the others give up. So one that is not
// admitted waits for a holder, or shares a key with one that is admitted.
func (l *Ledger) admissible() map[types.UID]bool {
	candidates := maps.Clone(l.proposed)
	for {
		admitted := l.unblocked(candidates)
		late, taken := l.late(admitted)
		if len(late) == 0 {
			l.admitFree(admitted, taken)
			return admitted
		}
		for _, uid := range late {
			delete(candidates, uid)
		}
	}
}

// admitFree admits the proposals that wait for no holder, and share no key with an admitted one. taken are the keys of these.
func (l *Ledger) admitFree(admitted map[types.UID]bool, taken inventory.Keys) {
	for grown := true; grown; {
		grown = false
		for _, uid := range l.ordered(maps.Keys(l.proposed)) {
			if admitted[uid] || inventory.Overlap(taken, l.proposed[uid].keys) {
				continue
			}
			if _, blocked := l.blocked(uid, admitted); !blocked {
				maps.Copy(taken, l.proposed[uid].keys)
				admitted[uid], grown = true, true
			}
		}
	}
}

// ordered sorts proposals, the earliest first.
func (l *Ledger) ordered(proposals iter.Seq[types.UID]) []types.UID {
	return slices.SortedFunc(proposals, func(a, b types.UID) int { return cmp.Compare(l.proposed[a].sequence, l.proposed[b].sequence) })
}

// unblocked returns the largest subset of the proposals in which none waits for a proposal outside of it.
func (l *Ledger) unblocked(candidates map[types.UID]proposal) map[types.UID]bool {
	admitted := map[types.UID]bool{}
	for uid := range candidates {
		admitted[uid] = true
	}
	for changed := true; changed; {
		changed = false
		for uid := range admitted {
			if _, blocked := l.blocked(uid, admitted); blocked {
				delete(admitted, uid)
				changed = true
			}
		}
	}
	return admitted
}

// late returns the admitted proposals that share a key with an earlier admitted one, and the keys of the others.
func (l *Ledger) late(admitted map[types.UID]bool) (late []types.UID, taken inventory.Keys) {
	taken = inventory.Keys{}
	for _, uid := range l.ordered(maps.Keys(admitted)) {
		if inventory.Overlap(taken, l.proposed[uid].keys) {
			late = append(late, uid)
			continue
		}
		maps.Copy(taken, l.proposed[uid].keys)
	}
	return late, taken
}

// rivalsOf maps the keys of a proposal to the other admitted proposals that contain them.
func (l *Ledger) rivalsOf(uid types.UID, admitted map[types.UID]bool) map[safeguard.Key]Holder {
	rivals := map[safeguard.Key]Holder{}
	for other := range admitted {
		for key := range l.proposed[uid].keys {
			if p := l.proposed[other]; other != uid && p.keys[key] {
				rivals[key] = Holder{Selection: p.name, UID: other}
			}
		}
	}
	return rivals
}

// givesUp reports whether the latest render of a holder that has passed the guard lacks a key.
func (l *Ledger) givesUp(key safeguard.Key, h Holder) bool {
	keeps, known := l.keeps(h.UID, key)
	return h.UID != "" && known && !keeps
}

// gaveUp reports whether the holder of a key has published without it and does not propose it.
func (l *Ledger) gaveUp(key safeguard.Key, h Holder) bool {
	served, known := l.served[h.UID]
	return h.UID != "" && known && !served[key] && !l.proposed[h.UID].keys[key]
}

// blocked returns the keys of a proposal that no holder among the admitted ones releases.
func (l *Ledger) blocked(uid types.UID, admitted map[types.UID]bool) (blocking map[safeguard.Key]Holder, blocked bool) {
	for key, h := range l.proposed[uid].holders {
		if l.released(key, h, admitted) {
			continue
		}
		if blocking == nil {
			blocking = map[safeguard.Key]Holder{}
		}
		blocking[key] = h
	}
	return blocking, len(blocking) > 0
}

// released reports whether the holder of a key has published without it, or is about to in an admitted proposal.
func (l *Ledger) released(key safeguard.Key, h Holder, admitted map[types.UID]bool) bool {
	return l.gaveUp(key, h) || admitted[h.UID] && l.givesUp(key, h)
}
