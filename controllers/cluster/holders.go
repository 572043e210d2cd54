package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// holder is who holds a live key:
//
//	the object                                  holder
//	lives, has owner labels, and the inventory  that Kustomization, whatever its source
//	  of the Kustomization in them has it
//	otherwise                                   the selection that reserved the key first
type holder struct {
	// kustomization in the owner labels; empty for a reservation.
	kustomization types.NamespacedName
	// source of the Kustomization, for people.
	source string
	// selection whose artifact it applies, and its UID; empty for another source, or for a selection
	// of another process.
	selection types.NamespacedName
	uid       types.UID
}

func (h holder) String() string {
	switch {
	case h.kustomization.Name == "":
		return fmt.Sprintf("the CatalogSelection %s", h.selection)
	case h.selection.Name == "":
		return fmt.Sprintf("the Kustomization %s of the %s", h.kustomization, h.source)
	}
	return fmt.Sprintf("the CatalogSelection %s, by its Kustomization %s,", h.selection, h.kustomization)
}

// rival is another selection that serves keys.
type rival struct {
	uid       types.UID
	selection types.NamespacedName
	keys      Keys
	// applied and failed say what its Kustomizations made of its artifact, and idle that they never
	// applied anything.
	applied, failed, idle bool
}

// ConflictError says that others hold what a selection publishes, or is about to.
type ConflictError struct {
	// Served is true for what is published already.
	Served bool

	first safeguard.Key
	by    holder
	more  int
}

// Reason is the reason of the condition.
func (e *ConflictError) Reason() string { return v1alpha1.ConflictReason }

func (e *ConflictError) Error() string {
	more := ""
	if e.more > 0 {
		more = fmt.Sprintf(" and %d more", e.more)
	}
	what := "exclude them here, or there"
	if e.by.selection.Name == "" {
		what = "exclude them here, or remove them from that source"
	}
	return fmt.Sprintf("%s holds %s%s as well; %s", e.by, e.first.Name, more, what)
}

func conflict(held map[safeguard.Key]holder, served bool) *ConflictError {
	e := &ConflictError{Served: served, more: len(held) - 1}
	for key, h := range held {
		if e.first.Name == "" || strings.Compare(key.String(), e.first.String()) < 0 {
			e.first, e.by = key, h
		}
	}
	return e
}

// served returns the live keys of a selection's artifact; none where that is not known, or withheld until
// a consumer was compared. A selection without a record gives up nothing: its Kustomization may have what
// another one of its name published.
func (c *Cluster) served(ctx context.Context, cs *v1alpha1.CatalogSelection) Keys {
	if AwaitsConsumer(cs) {
		return nil
	}
	if keys, known := c.claims.servedBy(cs.UID); known {
		return keys
	}
	definitions, _ := c.Published(cs)
	if definitions == nil {
		return nil
	}
	consumed, err := c.ConsumersOf(ctx, cs)
	if err != nil {
		return Consumers{}.liveKeys(definitions)
	}
	keys := consumed.liveKeys(definitions)
	c.claims.serve(cs.UID, keys)
	return keys
}

// owners returns who holds, of the wanted keys, those that live and have the owner labels of a
// Kustomization of another owner; and which have those of a Kustomization of cs.
// What cs serves needs no look at the inventory.
func (c *Cluster) owners(ctx context.Context, wanted, served Keys, live []*liveMeta, consumed Consumers,
	others []*v1alpha1.CatalogSelection) (held map[safeguard.Key]holder, mine Keys, err error) {
	held, mine = map[safeguard.Key]holder{}, Keys{}
	inventories := map[types.NamespacedName]*kustomizev1.Kustomization{}
	entries := map[types.NamespacedName]Keys{}
	for _, object := range live {
		key, owner := keyOf(object), ownerOf(object)
		own := consumed.include(owner)
		if !wanted[key] || owner.Name == "" {
			continue
		}
		if own && served[key] {
			mine[key] = true
			continue
		}
		ks, known := inventories[owner]
		if !known {
			if ks, err = c.kustomization(ctx, owner); err != nil {
				return nil, nil, err
			}
			inventories[owner] = ks
			if ks != nil {
				entries[owner] = inventoryOf(ks)
			}
		}
		switch {
		case ks == nil || ks.Spec.KubeConfig != nil || !entries[owner][key]:
		case own:
			mine[key] = true
		default:
			held[key] = holderOf(ks, others)
		}
	}
	return held, mine, nil
}

// holderOf returns the holder that a Kustomization is.
func holderOf(ks *kustomizev1.Kustomization, others []*v1alpha1.CatalogSelection) holder {
	h := holder{kustomization: client.ObjectKeyFromObject(ks), source: fmt.Sprintf("%s %s", ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name)}
	for _, text := range consumedArtifact(ks) {
		for _, other := range others {
			if name := client.ObjectKeyFromObject(other); name.String() == text {
				h.selection, h.uid = name, other.UID
			}
		}
	}
	return h
}

// rivals returns the other selections that act here and serve one of the keys, or render one, the oldest
// first.
func (c *Cluster) rivals(ctx context.Context, wanted Keys, others []*v1alpha1.CatalogSelection) ([]rival, error) {
	var rivals []rival
	slices.SortFunc(others, byAge)
	for _, other := range others {
		r := rival{uid: other.UID, selection: client.ObjectKeyFromObject(other), keys: Keys{}}
		for key := range c.served(ctx, other) {
			if wanted[key] {
				r.keys[key] = true
			}
		}
		if other.Status.Withheld == v1alpha1.ConflictReason || len(r.keys) == 0 && !overlap(wanted, c.claims.renderedBy(other.UID)) {
			continue
		}
		theirs, err := c.ConsumersOf(ctx, other)
		if err != nil {
			return nil, err
		}
		if !theirs.ActHere() {
			continue
		}
		r.idle = theirs.idle()
		for _, item := range theirs.local() {
			r.applied = r.applied || item.reason == ""
			r.failed = r.failed || item.reason == v1alpha1.ApplyFailedReason
		}
		rivals = append(rivals, r)
	}
	return rivals, nil
}

// byAge orders selections by their creation, and those of the same second by their names.
func byAge(a, b *v1alpha1.CatalogSelection) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return compareNames(client.ObjectKeyFromObject(a), client.ObjectKeyFromObject(b))
}
