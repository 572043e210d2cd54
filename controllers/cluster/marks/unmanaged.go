// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"errors"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
)

// SyncUnmanaged labels the definitions that no selection publishes or renders, and that are in no inventory,
// and removes outdated labels. It returns the number of labelled definitions.
func (m *Marks) SyncUnmanaged(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) (int, error) {
	labels := cs.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled
	// Without the label there is nothing to remove, so this does not look for the holders of the object, which takes long.
	var concerned []*guard.Live
	for object := range live.Definitions(state.Live) {
		if labels || guard.Owns(object, v1alpha1.UnmanagedLabel) {
			concerned = append(concerned, object)
		}
	}
	if len(concerned) == 0 {
		return 0, nil
	}
	unseen := map[types.NamespacedName]bool{}
	var orphans []*guard.Live
	var errs []error
	for _, object := range concerned {
		held := m.isClaimed(cs, state, object) || labels && m.isHeldByAnother(ctx, cs, object, unseen)
		orphan := !held && !guard.Bypassed(object) && !guard.OfPlatform(object)
		switch {
		case orphan && labels:
			orphans = append(orphans, object)
		case !orphan || !m.labelledByOthers(ctx, cs, object):
			errs = append(errs, m.unlabel(ctx, cs, object))
		}
	}
	if len(orphans) == 0 {
		return 0, errors.Join(errs...)
	}
	count, err := m.markOrphans(ctx, cs, orphans, state.Consumers)
	return count, errors.Join(append(errs, err)...)
}

func (m *Marks) unlabel(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live) error {
	_, err := m.Mark(ctx, cs, object, func(s *Set) { s.Unmanaged = false })
	return err
}

// markOrphans labels definitions that no selection holds, except those in an inventory.
func (m *Marks) markOrphans(ctx context.Context, cs *v1alpha1.CatalogSelection, orphans []*guard.Live, consumed consumers.Consumers) (int, error) {
	candidates := inventory.Keys{}
	for _, object := range orphans {
		candidates[guard.LiveKey(object)] = true
	}
	applied, err := m.inventoried(ctx, candidates)
	if err != nil {
		return 0, err
	}
	count := 0
	var errs []error
	for _, object := range orphans {
		if applied[guard.LiveKey(object)] {
			errs = append(errs, m.unlabel(ctx, cs, object))
			continue
		}
		labelled, err := m.markOrphan(ctx, cs, object, consumed.AppliedHere())
		if labelled {
			count++
		}
		errs = append(errs, err)
	}
	return count, errors.Join(errs...)
}

// inventoried returns the keys that are in the inventory of a Kustomization of this cluster.
func (m *Marks) inventoried(ctx context.Context, keys inventory.Keys) (inventory.Keys, error) {
	found := inventory.Keys{}
	err := m.Holders.Kustomizations.Each(ctx, func(ks *kustomizev1.Kustomization) {
		for key := range inventory.Of(ks) {
			if keys[key] {
				found[key] = true
			}
		}
	})
	return found, err
}

// isClaimed reports whether a selection publishes a definition, or is about to, or another one has applied it.
func (m *Marks) isClaimed(cs *v1alpha1.CatalogSelection, state *live.State, object *guard.Live) bool {
	key := guard.LiveKey(object)
	by := m.Holders.View.Named(types.NamespacedName{Namespace: object.Labels[v1alpha1.NamespaceLabel], Name: object.Labels[v1alpha1.NameLabel]})
	return state.Served[key] || by != nil && by.UID != cs.UID || len(m.Holders.View.Claiming(holders.DigestOf(key))) > 0
}

// isHeldByAnother reports whether the definition has the labels of an existing selection that this controller does
// not watch, of another shard or namespace. known caches the results.
func (m *Marks) isHeldByAnother(ctx context.Context, cs *v1alpha1.CatalogSelection,
	object *guard.Live, known map[types.NamespacedName]bool) bool {
	key := types.NamespacedName{Namespace: object.Labels[v1alpha1.NamespaceLabel], Name: object.Labels[v1alpha1.NameLabel]}
	if key.Name == "" || key.Namespace == "" || key == client.ObjectKeyFromObject(cs) {
		return false
	}
	if exists, cached := known[key]; cached {
		return exists
	}
	other := &v1alpha1.CatalogSelection{}
	err := m.APIReader.Get(ctx, key, other)
	// After an error the selection counts as existing: removing its labels would be the worse mistake.
	known[key] = err == nil && other.DeletionTimestamp.IsZero() || client.IgnoreNotFound(err) != nil
	return known[key]
}

// labelledByOthers reports whether another selection of this process labels the unmanaged definitions of a kind.
func (m *Marks) labelledByOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live) bool {
	return slices.ContainsFunc(m.Kinds.Subscribers(object.GroupVersionKind()), func(name types.NamespacedName) bool {
		other := &v1alpha1.CatalogSelection{}
		return name != client.ObjectKeyFromObject(cs) && m.Holders.Client.Get(ctx, name, other) == nil &&
			other.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled
	})
}

// markOrphan labels a definition as unmanaged and removes the metadata of its former selection, which Flux has set and does
// not update once the object left the artifact: labels, and the digest of the source. It reports whether the definition has
// the label.
func (m *Marks) markOrphan(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, applied bool) (bool, error) {
	labelled := object.Labels[v1alpha1.UnmanagedLabel] == "true"
	if !applied {
		return labelled, nil
	}
	if !labelled {
		if done, err := m.Mark(ctx, cs, object, func(s *Set) { s.Unmanaged = true }); err != nil || !done {
			return false, err
		}
	}
	gone, annotations := map[string]any{}, map[string]any{}
	for _, key := range []string{v1alpha1.NameLabel, v1alpha1.NamespaceLabel} {
		if _, there := object.Labels[key]; there {
			gone[key] = nil
		}
	}
	if object.Labels[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByValue {
		gone[v1alpha1.ManagedByLabel] = nil
	}
	if _, there := object.Annotations[v1alpha1.SourceDigestAnnotation]; there {
		annotations[v1alpha1.SourceDigestAnnotation] = nil
	}
	if len(gone)+len(annotations) == 0 {
		return true, nil
	}
	// The patch has no resource version, because setting the label has just changed it.
	return true, m.patch(ctx, cs, object, map[string]any{"uid": object.UID, "labels": gone, "annotations": annotations})
}
