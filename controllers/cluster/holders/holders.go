// SPDX-License-Identifier: Apache-2.0

// Package holders decides which selection may publish an object, by one protocol within a process, between processes and after a
// restart. status.claim has what each selection is about to publish or to give up, and a View of each process has the claims of all:
//
//  1. A selection writes its claims with the optimistic lock, which gives them a version.
//  2. It waits until its view has that version, and so all claims that were written before it.
//  3. It decides by lookups: see Yields.
//  4. It spoils unpublished claims of those that have to yield, with the lock: one that has published meanwhile makes that fail.
//  5. It publishes with the lock on the version: if its claims were spoilt meanwhile, that fails.
//
// So of two that claim one object, the one that writes later sees the other. It must not know how objects are marked.
package holders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Holders decides who may publish an object. All fields are required.
type Holders struct {
	View           *View
	Kustomizations *consumers.Kustomizations
	Objects        *live.Objects
	// Client reads the selections of this process from its cache, and writes statuses as the field manager of the controller.
	Client client.Client
}

// Foresee returns the *ConflictError that Decide would return by what the view has, which may lag behind: then nothing has to be
// written to find that out. It does so only if the stored claim has all that the selection claims.
func (h *Holders) Foresee(ctx context.Context, cs *v1alpha1.CatalogSelection, stored *v1alpha1.Claim, p *Position) error {
	if stored == nil || stored.Generation != cs.Generation {
		return nil
	}
	known := setOf(append(slices.Clone(stored.Keys), stored.Published...))
	for key := range p.claimed {
		if !known[DigestOf(key)] {
			return nil
		}
	}
	_, err := h.decide(ctx, cs, p)
	return err
}

// Decide returns a *ConflictError while other owners have objects that the selection claims. The claim in the status of cs must be
// stored. Without such a conflict, Decide spoils the pending claims of the selections that yield. In any case it spoils the older
// pending claims of selections that are about to give up a claimed object, because they may not know this claim. If a selection has
// changed meanwhile, the error is a conflict of the API server.
func (h *Holders) Decide(ctx context.Context, cs *v1alpha1.CatalogSelection, p *Position) error {
	if err := h.View.Await(ctx, cs.UID, cs.ResourceVersion); err != nil {
		return err
	}
	spoilt := map[types.UID]*Claimant{}
	for key := range p.claimed {
		for _, giver := range h.View.having(DigestOf(key)) {
			if giver.UID != cs.UID && giver.Claims.Pending && giver.gives[DigestOf(key)] && giver.isBefore(cs.ResourceVersion) {
				spoilt[giver.UID] = giver
			}
		}
	}
	yielding, err := h.decide(ctx, cs, p)
	if err == nil {
		maps.Copy(spoilt, yielding)
	}
	if failed := h.spoil(ctx, spoilt); failed != nil {
		return failed
	}
	return err
}

func (h *Holders) decide(ctx context.Context, cs *v1alpha1.CatalogSelection, p *Position) (map[types.UID]*Claimant, error) {
	known := &standings{holders: h, state: p.state, related: map[types.UID]*related{}}
	swaps := newRing(h.View, digestsOf(p.gives()))
	stand := func(c *Claimant, key safeguard.Key) (Standing, error) {
		theirs, err := known.of(ctx, c)
		if err != nil {
			return Standing{}, err
		}
		s := theirs.to(DigestOf(key), p.like(key), c, h.View.Now())
		s.Owns = p.foreign[key].Selection == c.Name || c.UID == cs.UID && p.owns(key)
		// A release goes over with its object: a second object with the release would be uninstalled with it.
		s.Gives = swaps.givesUp(c, DigestOf(key)) && swaps.givesUp(c, DigestOf(p.objectOf(key)))
		return s, nil
	}
	won, yielding, err := judge(h.View, cs.UID, p.claimed.Without(p.published(cs)), p.foreign, stand)
	if err == nil && len(won) > 0 {
		err = conflict(won)
	}
	return yielding, err
}

// judge decides on the keys that a selection claims. won has the holders that the selection yields to. yielding has the selections that
// yield to it, and whose pending claims must be spoilt, or they would publish. foreign are the holders of live objects, and stand
// returns how a selection stands to a key.
func judge(view *View, me types.UID, keys inventory.Keys, foreign map[safeguard.Key]Holder,
	stand func(*Claimant, safeguard.Key) (Standing, error)) (won map[safeguard.Key]Holder, yielding map[types.UID]*Claimant, err error) {
	won, yielding = map[safeguard.Key]Holder{}, map[types.UID]*Claimant{}
	self := view.Of(me)
	if self == nil {
		return nil, nil, errors.New("the watch of CatalogSelections does not have this one any more")
	}
	for key := range keys {
		rivals := view.Claiming(DigestOf(key))
		if owner, owned := foreign[key]; owned {
			by := view.Named(owner.Selection)
			if by == nil || by == self {
				won[key] = owner
				continue
			}
			rivals = append(rivals, by)
		}
		mine, err := stand(self, key)
		if err != nil {
			return nil, nil, err
		}
		for _, rival := range slices.DeleteFunc(rivals, func(c *Claimant) bool { return c == self }) {
			theirs, err := stand(rival, key)
			switch {
			case err != nil:
				return nil, nil, err
			case !Yields(mine, theirs, rival.Compare(self) < 0):
				if rival.MayPublish() && rival.Claims.Pending && rival.claims(key) && !theirs.Published {
					yielding[rival.UID] = rival
				}
				continue
			case theirs.Owns:
				won[key] = foreign[key]
			default:
				won[key] = Holder{Selection: rival.Name}
			}
			break
		}
	}
	return won, yielding, nil
}

// related is what the Kustomizations of a selection tell of it.
type related struct {
	failing bool
	// kinds has the kinds and namespaces of the live objects that they own. unread is true if a Kustomization has applied a revision: for
	// kinds that the controller may not read, nothing else is known.
	kinds  map[safeguard.Key]bool
	unread bool
	state  *live.State
}

// standings has what is known of selections during one decision.
type standings struct {
	holders *Holders
	state   *live.State
	related map[types.UID]*related
}

func (s *standings) of(ctx context.Context, c *Claimant) (*related, error) {
	if r := s.related[c.UID]; r != nil {
		return r, ctx.Err()
	}
	consumed, err := s.holders.Kustomizations.Of(ctx, c.selection())
	if err != nil {
		return nil, err
	}
	r := &related{state: s.state, kinds: map[safeguard.Key]bool{}}
	for _, object := range s.state.OwnedBy(consumed) {
		r.kinds[kindOf(guard.LiveKey(object))] = true
	}
	asleep := consumed.ActHere()
	for _, item := range consumed.Local() {
		asleep, r.unread = asleep && item.Suspended, r.unread || item.Revision != ""
	}
	r.failing = asleep && len(r.kinds) == 0 || slices.ContainsFunc(consumed.Naming(), func(item consumers.Consumer) bool { return item.Failed })
	s.related[c.UID] = r
	return r, nil
}

// kindOf returns a key without the name.
func kindOf(key safeguard.Key) safeguard.Key {
	return safeguard.Key{Group: key.Group, Kind: key.Kind, Namespace: key.Namespace}
}

// to returns the standing to a key. like is the key of a live object of its kind and namespace.
func (r *related) to(digest Digest, like safeguard.Key, c *Claimant, now time.Time) Standing {
	since := c.since[digest]
	return Standing{
		Claims: c.published[digest] || !since.IsZero() && c.MayPublish(), Published: c.published[digest], Failing: r.failing,
		Old:      !since.IsZero() && now.Sub(since) > Patience,
		OwnsLike: r.ownsLike(like),
	}
}

// ownsLike reports whether a Kustomization owns a live object of a kind and namespace. Of a kind that may not be read, only the
// Kustomizations themselves can tell whether they have applied something.
func (r *related) ownsLike(like safeguard.Key) bool {
	if r.state.Unread[schema.GroupKind{Group: like.Group, Kind: like.Kind}] {
		return r.unread
	}
	return r.kinds[kindOf(like)]
}

// spoil makes publications by the claims of selections fail.
func (h *Holders) spoil(ctx context.Context, yielding map[types.UID]*Claimant) error {
	for _, c := range yielding {
		before := c.selection()
		before.Status.Claim = c.Claims.DeepCopy()
		after := before.DeepCopy()
		after.Status.Claim.Generation = 0
		err := h.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("ending the claims of the CatalogSelection %s: %w", c.Name, err)
		}
	}
	return nil
}

// Contested returns a *ConflictError if other owners have live objects that a selection serves: Flux would apply both versions in turns,
// without end.
func (h *Holders) Contested(ctx context.Context, cs *v1alpha1.CatalogSelection, p *Position) error {
	if len(p.foreign) == 0 {
		return nil
	}
	if err := h.View.Await(ctx, cs.UID, cs.ResourceVersion); err != nil { // it may have published a moment ago
		return err
	}
	held, swaps := map[safeguard.Key]Holder{}, newRing(h.View, nil)
	for key, holder := range p.foreign {
		if by := h.View.Named(holder.Selection); by == nil || !swaps.givesUp(by, DigestOf(key)) {
			held[key] = holder
		}
	}
	if len(held) == 0 {
		return nil
	}
	return conflict(held)
}

// Receivers returns the selections besides cs that claim one of the keys, however old a claim is and whether or not it may publish that.
func (h *Holders) Receivers(cs *v1alpha1.CatalogSelection, keys ...safeguard.Key) []types.NamespacedName {
	var names []types.NamespacedName
	for _, key := range keys {
		for _, c := range h.View.Claiming(DigestOf(key)) {
			if c.UID != cs.UID && (!c.Suspended || c.published[DigestOf(key)]) && !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// IsAwaited reports whether an object that leaves, and that may not be marked, stays in the artifact for more than Patience: a
// Kustomization of a receiver owns a live object of the same kind and namespace, or it is the object of a release, which would be uninstalled.
func (h *Holders) IsAwaited(ctx context.Context, state *live.State, receivers []types.NamespacedName, key safeguard.Key) (bool, error) {
	known := &standings{holders: h, state: state, related: map[types.UID]*related{}}
	for _, name := range receivers {
		c := h.View.Named(name)
		if c == nil {
			continue
		}
		if !key.IsDefinition() {
			return true, nil
		}
		theirs, err := known.of(ctx, c)
		if err != nil {
			return false, err
		}
		if theirs.ownsLike(key) && (c.published[DigestOf(key)] || !c.Claims.Held) {
			return true, nil
		}
	}
	return false, nil
}

// Undecided returns the selections besides cs that may be about to claim any object: their claim is older than their spec, or their spec
// names something that matches nothing. A selection counts until its spec is older than Patience.
func (h *Holders) Undecided(cs *v1alpha1.CatalogSelection) []types.NamespacedName {
	var names []types.NamespacedName
	for _, c := range h.View.All() {
		decided := c.IsEvaluated() && !c.Claims.Open
		if c.UID != cs.UID && !decided && h.View.Now().Sub(c.Seen) < Patience {
			names = append(names, c.Name)
		}
	}
	slices.SortFunc(names, consumers.CompareNames)
	return names
}
