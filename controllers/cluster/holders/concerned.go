// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Appliers returns the selections of this process whose Kustomizations have applied an object, by its labels.
func (h *Holders) Appliers(ctx context.Context, object client.Object) []types.NamespacedName {
	return h.ours(ctx, h.appliers(ctx, object))
}

// appliers is Appliers with the selections of other processes, and with zero names for missing labels.
func (h *Holders) appliers(ctx context.Context, object client.Object) []types.NamespacedName {
	labels := object.GetLabels()
	return []types.NamespacedName{
		{Namespace: labels[v1alpha1.NamespaceLabel], Name: labels[v1alpha1.NameLabel]},
		h.Kustomizations.SelectionOf(ctx, guard.OwnerOf(object)),
	}
}

// Concerned returns the selections of this process that a change of a live object of a kind concerns: those that claim it or have
// applied it, that are held, or that label unmanaged definitions. Of an object with a mark that concerns none, it is any selection
// that watches the kind.
func (h *Holders) Concerned(ctx context.Context, kind schema.GroupVersionKind, object client.Object) []types.NamespacedName {
	key := safeguard.KeyOf(kind.Group, kind.Kind, object.GetNamespace(), object.GetName())
	concerned := h.appliers(ctx, object)
	for _, c := range h.View.Claiming(DigestOf(key)) {
		concerned = append(concerned, c.Name)
	}
	if concerned = h.ours(ctx, concerned); len(concerned) == 0 && live.Marked(object) {
		watching := h.Kustomizations.Kinds.Subscribers(kind)
		concerned = watching[:min(1, len(watching))]
	}
	return h.ours(ctx, append(concerned, h.View.Watchful()...))
}

// Rivals returns the selections of this process that claim, or give up, something that a selection claims or gives up.
func (h *Holders) Rivals(ctx context.Context, cs *v1alpha1.CatalogSelection) []types.NamespacedName {
	return h.ours(ctx, h.View.rivals(cs.UID))
}

// ours returns the selections that this process reconciles, each once.
func (h *Holders) ours(ctx context.Context, names []types.NamespacedName) []types.NamespacedName {
	var ours []types.NamespacedName
	seen, cs := map[types.NamespacedName]bool{{}: true}, &v1alpha1.CatalogSelection{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		if h.Client.Get(ctx, name, cs, client.UnsafeDisableDeepCopy) == nil {
			ours = append(ours, name)
		}
	}
	return ours
}

// EnqueueConcerned returns the function that enqueues the selections of this process among those that a change of the view concerns.
func (h *Holders) EnqueueConcerned(ctx context.Context, enqueue func(context.Context, ...types.NamespacedName)) func(...types.NamespacedName) {
	return func(names ...types.NamespacedName) { enqueue(ctx, h.ours(ctx, names)...) }
}
