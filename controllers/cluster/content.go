package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// readLive reads whole definitions, of which the watch has only metadata: few one by one, many by lists.
func (c *Cluster) readLive(ctx context.Context, objects []*guard.Live, found *foundLive) error {
	const few = 20
	if len(objects) > few {
		return c.listLive(ctx, objects, found)
	}
	for _, object := range objects {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(object.GroupVersionKind())
		err := c.APIReader.Get(ctx, client.ObjectKeyFromObject(object), u)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading the live %s %s: %w", object.Kind, object.Name, err)
		}
		found.add(u.Object)
	}
	return nil
}

func (c *Cluster) listLive(ctx context.Context, objects []*guard.Live, found *foundLive) error {
	entering := map[safeguard.Key]*guard.Live{}
	kinds := map[string]schema.GroupVersionKind{}
	for _, object := range objects {
		entering[guard.LiveKey(object)], kinds[object.GroupVersionKind().String()] = object, object.GroupVersionKind()
	}
	// The order is stable, so that maxSettings always selects the same definitions.
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		gvk := kinds[name]
		err := c.eachLive(ctx, gvk, func(u unstructured.Unstructured) {
			if object := entering[safeguard.KeyOf(gvk.Group, gvk.Kind, u.GetNamespace(), u.GetName())]; object != nil {
				found.add(u.Object)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachLive calls f for each live object of a kind.
func (c *Cluster) eachLive(ctx context.Context, gvk schema.GroupVersionKind, f func(unstructured.Unstructured)) error {
	const page = 250
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	for {
		if err := c.APIReader.List(ctx, list, client.Limit(page), client.Continue(list.GetContinue())); err != nil {
			return fmt.Errorf("reading the live %s objects: %w", gvk.Kind, err)
		}
		for _, u := range list.Items {
			f(u)
		}
		if list.GetContinue() == "" {
			return nil
		}
	}
}
