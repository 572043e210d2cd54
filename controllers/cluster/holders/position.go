// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Position is how a selection stands to the objects of what it publishes and of what it is about to publish.
type Position struct {
	// claimed and served are the live keys, with releases, of what it is about to publish and of what it publishes. labelled are the keys
	// of the live objects with the owner labels of its Kustomizations, and mine those among them that their inventories have as well.
	claimed, served, labelled, mine inventory.Keys
	// releases maps a release among these keys to its object: a live object does not tell which release it has.
	releases map[safeguard.Key]safeguard.Key
	// foreign are the holders of claimed keys by the owner labels of live objects.
	foreign map[safeguard.Key]Holder
	// hasStrangers is true if foreign has those that FindStrangers finds, too.
	hasStrangers bool
	state        *live.State
	// Open is true if the spec has a new name that matches nothing.
	Open bool
}

// PositionOf returns the position of a selection that is about to publish next, or goes on to publish it.
func (h *Holders) PositionOf(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) (*Position, error) {
	p := &Position{
		claimed: state.Consumers.LiveKeys(next), served: state.Served, labelled: inventory.Keys{}, mine: inventory.Keys{},
		releases: map[safeguard.Key]safeguard.Key{}, foreign: map[safeguard.Key]Holder{}, state: state,
	}
	for _, r := range append(state.Consumers.Releases(state.Published), state.Consumers.Releases(next)...) {
		p.releases[r.Key] = r.Object
	}
	owners := map[types.NamespacedName]*applier{}
	applied := state.Consumers.AppliedHere() // then the inventories have what is served
	for _, object := range state.Live {
		key, owner := guard.LiveKey(object), guard.OwnerOf(object)
		own := state.Consumers.Include(owner)
		if own {
			p.labelled[key] = true
		}
		switch {
		case owner.Name == "" || !own && !p.claimed[key]:
			continue
		case own && p.served[key] && applied:
			p.mine[key] = true
			continue
		}
		by, known := owners[owner]
		if !known {
			ks, err := h.Kustomizations.Get(ctx, owner)
			if err != nil {
				return nil, err
			}
			by = applierOf(ks)
			owners[owner] = by
		}
		switch {
		case !by.inventory[key]:
		case own:
			p.mine[key] = true
		default:
			p.foreign[key] = by.holder
		}
	}
	if cs.Status.Withheld != "" { // nothing is published
		p.served = inventory.Keys{}
	}
	return p, p.fits()
}

// maxKeys bounds the objects and releases of a selection: a field of status.claim has no room for more digests.
const maxKeys = 24_576

func (p *Position) fits() error {
	if n := len(p.claimed); n > maxKeys && p.state.Consumers.ActHere() {
		return failure.Because(v1alpha1.InvalidSpecReason, fmt.Errorf(
			"the selection has %d objects and releases, and status.claim has room for %d: split it into several", n, maxKeys))
	}
	return nil
}

// applier is a Kustomization of this cluster with the objects that it has applied.
type applier struct {
	holder    Holder
	inventory inventory.Keys
}

// applierOf returns what a Kustomization has applied to this cluster; nothing for nil.
func applierOf(ks *kustomizev1.Kustomization) *applier {
	if ks == nil || ks.Spec.KubeConfig != nil {
		return &applier{}
	}
	return &applier{inventory: inventory.Of(ks), holder: Holder{
		Kustomization: client.ObjectKeyFromObject(ks), Source: fmt.Sprintf("%s %s", ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name),
		Selection: consumers.SelectionOf(ks),
	}}
}

// owns reports whether the Kustomizations of the selection have applied an object that it publishes: what is published without it is
// given up.
func (p *Position) owns(key safeguard.Key) bool {
	return p.mine[key] && (p.state.Served == nil || p.state.Served[key])
}

// published returns the served keys that the stored claim has as published. The selection has to claim all other served keys first: an
// earlier release, or a selection without a Kustomization in this cluster, has claimed none.
func (p *Position) published(cs *v1alpha1.CatalogSelection) inventory.Keys {
	found, known := inventory.Keys{}, p.served
	if p.state.Served == nil { // the names of the served objects are not known
		known = p.claimed
	}
	if cs.Status.Claim != nil {
		published := setOf(cs.Status.Claim.Published)
		for key := range known {
			if published[DigestOf(key)] {
				found[key] = true
			}
		}
	}
	return found
}

// IsComplete reports whether the claim of a selection has all objects of definitions that it publishes. Of those that are not known,
// nil, it has some or none.
func IsComplete(cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, published []safeguard.Definition) bool {
	claim := cs.Status.Claim
	switch acts := consumed.ActHere(); {
	case claim == nil:
		return !acts
	case !acts || published == nil:
		return acts == (len(claim.Published) > 0)
	}
	return bytes.Equal(claim.Published, Pack(consumed.LiveKeys(published)))
}

// like returns a key of the kind and namespace of what installs a key: of a release, that in its own namespace.
func (p *Position) like(key safeguard.Key) safeguard.Key {
	like := p.objectOf(key)
	like.Namespace = key.Namespace
	return like
}

// objectOf returns the key of the object that has a release, or else the key itself.
func (p *Position) objectOf(key safeguard.Key) safeguard.Key {
	if object, ok := p.releases[key]; ok {
		return object
	}
	return key
}

// Keep adds what stays in the artifact to what is claimed.
func (p *Position) Keep(staying []live.Staying) {
	definitions := each.Map(staying, func(s live.Staying) safeguard.Definition { return s.Definition })
	p.claimed = maps.Clone(p.claimed)
	maps.Copy(p.claimed, p.state.Consumers.LiveKeys(definitions))
	for _, r := range p.state.Consumers.Releases(definitions) {
		p.releases[r.Key] = r.Object
	}
}

// Before returns the claim before the render is published. The status of cs has the stored claim.
func (p *Position) Before(cs *v1alpha1.CatalogSelection) *v1alpha1.Claim {
	if !p.state.Consumers.ActHere() {
		return p.After(cs)
	}
	published, all := p.published(cs), maps.Clone(p.claimed)
	maps.Copy(all, p.served)
	c := &v1alpha1.Claim{
		Generation: cs.Generation, Pending: true, Open: p.Open, Published: Pack(published), Keys: Pack(all.Without(published)), Gives: Pack(p.gives()), Given: p.given(),
	}
	if p.state.Served == nil && cs.Status.Claim != nil {
		c.Published = cs.Status.Claim.Published
	}
	return c
}

// After returns the claim once the render is published.
func (p *Position) After(cs *v1alpha1.CatalogSelection) *v1alpha1.Claim {
	if !p.state.Consumers.ActHere() { // if it has no Kustomization at all, one may follow
		return &v1alpha1.Claim{Generation: cs.Generation, Open: p.Open || p.state.Consumers.None()}
	}
	return &v1alpha1.Claim{Generation: cs.Generation, Open: p.Open, Published: Pack(p.claimed), Given: Pack(p.mine.Without(p.claimed))}
}

// Concluded returns the claim after an attempt without an error. Only a publication changes what is published.
func (p *Position) Concluded(cs *v1alpha1.CatalogSelection) *v1alpha1.Claim {
	last := cs.Status.Claim
	if last == nil || !p.state.Consumers.ActHere() {
		return p.After(cs)
	}
	return &v1alpha1.Claim{Generation: cs.Generation, Open: last.Open, Published: last.Published, Given: p.given()}
}

// given returns the objects that the Kustomizations have applied and the publication lacks, as far as that is known.
func (p *Position) given() []byte {
	if p.state.Served == nil {
		return nil
	}
	return Pack(p.mine.Without(p.state.Served))
}

// Waiting returns the claims of a selection that others let wait.
func (p *Position) Waiting(cs *v1alpha1.CatalogSelection, err *ConflictError) *v1alpha1.Claim {
	claims := p.Before(cs)
	claims.Waits, claims.Pending = Pack(err.keys), false
	if err.foreign { // no selection gives up such an object
		claims.Gives = nil
	}
	return claims
}

// Gives reports whether the selection gives up one of the objects once it publishes the render.
func (p *Position) Gives(staying []live.Staying) bool {
	gives := p.gives()
	return slices.ContainsFunc(staying, func(s live.Staying) bool { return gives[s.Key] })
}

// gives returns the keys that the selection gives up once it publishes the render: Flux prunes by labels, whatever the inventory has, and
// what is published may not be applied yet.
func (p *Position) gives() inventory.Keys {
	gives := p.labelled.Without(p.claimed)
	maps.Copy(gives, p.served.Without(p.claimed))
	return gives
}
