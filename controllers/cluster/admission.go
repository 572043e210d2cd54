package cluster

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// keeps reports whether the latest render of a selection that has passed the guard contains a key. known is
// false for a selection of another process.
func (c *claims) keeps(uid types.UID, key safeguard.Key) (keeps, known bool) {
	if p, ok := c.proposed[uid]; ok {
		return p.keys[key], true
	}
	served, ok := c.served[uid]
	return served[key], ok
}

// admissible returns the proposals that may be published: each of their keys is free, or its holder releases it
// in a proposal that is admissible as well, so that a swap is admitted as a whole or not at all. Of several
// proposals that claim one key, the earliest is admitted.
func (c *claims) admissible() map[types.UID]bool {
	candidates := maps.Clone(c.proposed)
	for {
		admitted := c.unblocked(candidates)
		late := c.late(admitted)
		if len(late) == 0 {
			return admitted
		}
		for _, uid := range late {
			delete(candidates, uid)
		}
	}
}

// unblocked returns the largest subset of the proposals in which none waits for a proposal outside of it.
func (c *claims) unblocked(candidates map[types.UID]proposal) map[types.UID]bool {
	admitted := map[types.UID]bool{}
	for uid := range candidates {
		admitted[uid] = true
	}
	for changed := true; changed; {
		changed = false
		for uid := range admitted {
			if _, blocked := c.blocked(uid, admitted); blocked {
				delete(admitted, uid)
				changed = true
			}
		}
	}
	return admitted
}

// late returns the admitted proposals that share a key with an earlier admitted one.
func (c *claims) late(admitted map[types.UID]bool) (late []types.UID) {
	order := slices.SortedFunc(maps.Keys(admitted), func(a, b types.UID) int {
		return cmp.Compare(c.proposed[a].sequence, c.proposed[b].sequence)
	})
	taken := inventory.Keys{}
	for _, uid := range order {
		if inventory.Overlap(taken, c.proposed[uid].keys) {
			late = append(late, uid)
			continue
		}
		maps.Copy(taken, c.proposed[uid].keys)
	}
	return late
}

// rivalsOf maps the keys of a proposal to the other admitted proposals that contain them.
func (c *claims) rivalsOf(uid types.UID, admitted map[types.UID]bool) map[safeguard.Key]holder {
	rivals := map[safeguard.Key]holder{}
	for other := range admitted {
		for key := range c.proposed[uid].keys {
			if p := c.proposed[other]; other != uid && p.keys[key] {
				rivals[key] = holder{selection: p.name, uid: other}
			}
		}
	}
	return rivals
}

// givesUp reports whether the latest render of a holder that has passed the guard lacks a key.
func (c *claims) givesUp(key safeguard.Key, h holder) bool {
	keeps, known := c.keeps(h.uid, key)
	return h.uid != "" && known && !keeps
}

// gaveUp reports whether the holder of a key has published without it and does not propose it.
func (c *claims) gaveUp(key safeguard.Key, h holder) bool {
	served, known := c.served[h.uid]
	return h.uid != "" && known && !served[key] && !c.proposed[h.uid].keys[key]
}

// blocked returns the keys of a proposal that no holder among the admitted ones releases.
func (c *claims) blocked(uid types.UID, admitted map[types.UID]bool) (blocking map[safeguard.Key]holder, blocked bool) {
	for key, h := range c.proposed[uid].holders {
		if c.released(key, h, admitted) {
			continue
		}
		if blocking == nil {
			blocking = map[safeguard.Key]holder{}
		}
		blocking[key] = h
	}
	return blocking, len(blocking) > 0
}

// released reports whether the holder of a key gives it up, in an admitted proposal if it has one.
func (c *claims) released(key safeguard.Key, h holder, admitted map[types.UID]bool) bool {
	if h.uid == "" {
		return false
	}
	keeps, known := c.keeps(h.uid, key)
	_, pending := c.proposed[h.uid]
	return known && !keeps && (!pending || admitted[h.uid])
}
