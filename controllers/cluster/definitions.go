package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/guard"
)

// definitionKind describes the watch of the metadata of definitions.
func (c *Cluster) definitionKind(gvk schema.GroupVersionKind) kinds.Kind {
	object := &guard.Live{}
	object.SetGroupVersionKind(gvk)
	concerned := func(ctx context.Context, before, after client.Object) []types.NamespacedName {
		return c.concernedByDefinition(ctx, gvk.GroupKind(), before, after)
	}
	return kinds.Kind{GVK: gvk, Object: object, Trim: trimDefinition, Concerned: concerned}
}

// trimDefinition keeps only the metadata that the marks depend on, because thousands of definitions are cached.
func trimDefinition(o client.Object) {
	kept := map[string]string{}
	for _, key := range []string{guard.ReconcileAnnotation, guard.PruneAnnotation, v1alpha1.BypassMarkAnnotation} {
		if value, ok := o.GetAnnotations()[key]; ok {
			kept[key] = value
		}
	}
	o.SetAnnotations(kept)
	o.SetManagedFields(slices.DeleteFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager != guard.MarksOwner
	}))
}

// differ reports whether more than the status changed, or the object was created or deleted.
func differ(before, after client.Object) bool {
	return before == nil || after == nil || before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// liveDefinitions returns the metadata of all definitions of the kinds. A kind that is absent has none; a
// forbidden kind is reported once and left out. With fresh, absent and forbidden kinds are tried again at once.
// The objects are shared with the cache and must not be modified.
func (c *Cluster) liveDefinitions(ctx context.Context, cs *v1alpha1.CatalogSelection,
	gvks []schema.GroupVersionKind, fresh bool) ([]*guard.Live, error) {
	look := c.Kinds.Look
	if fresh {
		look = c.Kinds.Probe
	}
	var live []*guard.Live
	for _, gvk := range gvks {
		reader, err := look(ctx, c.definitionKind(gvk), client.ObjectKeyFromObject(cs))
		if errors.Is(err, kinds.ErrForbidden) {
			c.ReportForbidden(ctx, cs, err, "live definitions are neither guarded nor marked; kubectl apply -k config/marks allows it")
		}
		if kinds.Settled(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing %s: %w", gvk.GroupKind(), err)
		}
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(gvk)
			live = append(live, &list.Items[i])
		}
	}
	return live, nil
}
