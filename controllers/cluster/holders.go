package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// holder is the Kustomization or selection that holds a live key:
//
//	the object                                  holder
//	is live, has owner labels, and is in the    that Kustomization, whatever its source
//	  inventory of the Kustomization in them
//	otherwise                                   the selection that reserved the key first
type holder struct {
	// kustomization is the one in the owner labels; empty for a reservation.
	kustomization types.NamespacedName
	// source is the source of the Kustomization, for messages.
	source string
	// selection and uid identify the selection whose artifact it applies; empty for another source, or for
	// a selection of another process.
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

// release returns how the holder lets go of its objects so that Flux deletes none of them. Between two selections, Winnow
// marks what moves.
func (h holder) release() string {
	switch {
	case h.selection.Name != "":
		return " there"
	case strings.HasPrefix(h.source, sourcev1.ExternalArtifactKind+" "):
		return ", if nothing publishes that ExternalArtifact any more, set spec.deletionPolicy: Orphan on that Kustomization, " +
			"and delete it once that is in the cluster; without Orphan, Flux deletes the objects with it"
	}
	return " annotate them in that source with kustomize.toolkit.fluxcd.io/prune: disabled, and remove them from it once the live objects " +
		"have that; without it, Flux deletes the objects"
}

// rival is another selection that serves or renders some of the keys.
type rival struct {
	uid       types.UID
	selection types.NamespacedName
	// keys are those that it serves.
	keys Keys
	// seen is what its Kustomizations have applied, failed reports whether one has failed, and dormant whether they
	// are suspended and own nothing.
	seen            evidence
	failed, dormant bool
}

// ConflictError reports that other owners hold objects that a selection publishes, or is about to publish.
type ConflictError struct {
	// Served is true if the objects are published already.
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
	what := "exclude them here, or" + e.by.release()
	name := e.first.FullName()
	if !e.first.IsDefinition() {
		name, what = e.first.Kind+" "+name, strings.ReplaceAll(what, "exclude", "rename or remove")
	}
	return fmt.Sprintf("%s holds %s%s as well; %s", e.by, name, more, what)
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

// served returns the live keys of a selection's artifact; none if they are not known, or while the selection
// awaits a consumer. The result is nil for a selection without a record, or whose record is older than its artifact, which
// gives up nothing: its Kustomization may have applied the artifact of an earlier selection of that name.
func (c *Cluster) served(ctx context.Context, cs *v1alpha1.CatalogSelection) Keys {
	if AwaitsConsumer(cs) {
		return nil
	}
	if keys, known := c.claims.servedBy(cs.UID); known {
		return keys
	}
	definitions, _ := c.Published(cs)
	if definitions == nil || c.Outdated(ctx, cs) {
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

// owners returns, of the claimed keys, the holders of live objects with the owner labels of other
// Kustomizations, and the keys with those of a consumer of cs. It reads the inventory of the Kustomization,
// except for the keys that cs serves.
func (c *Cluster) owners(ctx context.Context, claimed, served Keys, live []*liveMeta, consumed Consumers,
	others []*v1alpha1.CatalogSelection) (held map[safeguard.Key]holder, mine Keys, err error) {
	held, mine = map[safeguard.Key]holder{}, Keys{}
	inventories := map[types.NamespacedName]*kustomizev1.Kustomization{}
	entries := map[types.NamespacedName]Keys{}
	for _, object := range live {
		key, owner := keyOf(object), ownerOf(object)
		own := consumed.include(owner)
		if !claimed[key] || owner.Name == "" {
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

// holderOf returns a Kustomization as a holder, with the selection behind it.
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

// rivals returns the other selections with a Kustomization in this cluster that serve or render one of the
// keys, the oldest first.
func (c *Cluster) rivals(ctx context.Context, claimed Keys, live []*liveMeta, others []*v1alpha1.CatalogSelection) ([]rival, error) {
	var rivals []rival
	slices.SortFunc(others, byAge)
	for _, other := range others {
		r := rival{uid: other.UID, selection: client.ObjectKeyFromObject(other), keys: Keys{}}
		for key := range c.served(ctx, other) {
			if claimed[key] {
				r.keys[key] = true
			}
		}
		if other.Status.Withheld == v1alpha1.ConflictReason || len(r.keys) == 0 && !overlap(claimed, c.claims.renderedBy(other.UID)) {
			continue
		}
		theirs, err := c.ConsumersOf(ctx, other)
		if err != nil {
			return nil, err
		}
		if !theirs.ActHere() {
			continue
		}
		if r.seen, err = c.evidenceOf(ctx, other, theirs, live); err != nil {
			return nil, err
		}
		r.dormant = theirs.dormant(r.seen, claimed)
		for _, item := range theirs.local() {
			r.failed = r.failed || item.failed
		}
		rivals = append(rivals, r)
	}
	return rivals, nil
}

// byAge orders selections by creation time, and those of the same second by name.
func byAge(a, b *v1alpha1.CatalogSelection) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return compareNames(client.ObjectKeyFromObject(a), client.ObjectKeyFromObject(b))
}
