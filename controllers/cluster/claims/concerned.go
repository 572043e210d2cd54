// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Concerned returns the selections that publish or render a definition, whose Kustomization has
// applied it, that are held, or that label unmanaged definitions.
func (c *Claims) Concerned(ctx context.Context, kind schema.GroupKind, object client.Object) []types.NamespacedName {
	selections, err := c.Others(ctx, &v1alpha1.CatalogSelection{})
	if err != nil {
		if ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "finding the selections of a definition", "definition", object.GetName())
		}
		return nil
	}
	key := safeguard.KeyOf(kind.Group, kind.Kind, object.GetNamespace(), object.GetName())
	applier := c.Kustomizations.SelectionOf(ctx, guard.OwnerOf(object))
	var concerned []types.NamespacedName
	found := false
	for _, cs := range selections {
		mine := c.Served(ctx, cs)[key] || c.Ledger.HasRendered(cs.UID, key) || guard.AppliedBy(cs, object) ||
			client.ObjectKeyFromObject(cs).String() == applier
		found = found || mine
		if mine || cs.Status.Held != nil || cs.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled {
			concerned = append(concerned, client.ObjectKeyFromObject(cs))
		}
	}
	if !found && live.Marked(object) {
		concerned = append(concerned, c.AnyOfKind(ctx, selections, kind)...)
	}
	return concerned
}

// Serving returns the selections that serve a live object.
func (c *Claims) Serving(ctx context.Context, key safeguard.Key) []types.NamespacedName {
	selections, err := c.Others(ctx, &v1alpha1.CatalogSelection{})
	if err != nil {
		if ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "finding the selections of an instance", "object", key.String())
		}
		return nil
	}
	var serving []types.NamespacedName
	for _, cs := range selections {
		if c.Served(ctx, cs)[key] {
			serving = append(serving, client.ObjectKeyFromObject(cs))
		}
	}
	return serving
}

// AnyOfKind returns one selection that serves definitions of a kind, if there is one: it removes the marks of
// definitions that no selection holds.
func (c *Claims) AnyOfKind(ctx context.Context, selections []*v1alpha1.CatalogSelection, kind schema.GroupKind) []types.NamespacedName {
	for _, cs := range selections {
		for key := range c.Served(ctx, cs) {
			if key.Group == kind.Group && key.Kind == kind.Kind {
				return []types.NamespacedName{client.ObjectKeyFromObject(cs)}
			}
		}
	}
	return nil
}
