// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Read calls f with the content of live objects: the watch has only their metadata. It reads few objects one by one,
// and many with lists.
func (o *Objects) Read(ctx context.Context, objects []*guard.Live, f func(content map[string]any)) error {
	const few = 20
	if len(objects) > few {
		return o.readLists(ctx, objects, f)
	}
	for _, object := range objects {
		u, err := o.Content(ctx, object)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		f(u.Object)
	}
	return nil
}

// Content reads a live object: the watch has only its metadata.
func (o *Objects) Content(ctx context.Context, object *guard.Live) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(object.GroupVersionKind())
	if err := o.APIReader.Get(ctx, client.ObjectKeyFromObject(object), u); err != nil {
		return u, fmt.Errorf("reading the live %s %s: %w", object.Kind, object.Name, err)
	}
	return u, nil
}

func (o *Objects) readLists(ctx context.Context, objects []*guard.Live, f func(content map[string]any)) error {
	entering := map[safeguard.Key]*guard.Live{}
	kinds := map[string]schema.GroupVersionKind{}
	for _, object := range objects {
		entering[guard.LiveKey(object)], kinds[object.GroupVersionKind().String()] = object, object.GroupVersionKind()
	}
	// The order is stable, so that a bound always selects the same objects.
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		gvk := kinds[name]
		err := o.Each(ctx, gvk, func(u unstructured.Unstructured) {
			if object := entering[safeguard.KeyOf(gvk.Group, gvk.Kind, u.GetNamespace(), u.GetName())]; object != nil {
				f(u.Object)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// EachReadable is Each for a kind that may not be served, or read: then it calls f for none, and reports the consequence for a selection.
func (o *Objects) EachReadable(ctx context.Context, cs *v1alpha1.CatalogSelection, gvk schema.GroupVersionKind, consequence string,
	f func(unstructured.Unstructured)) error {
	if served, err := o.Kinds.Serves(gvk); !served || err != nil {
		return err
	}
	err := o.Each(ctx, gvk, f)
	if apierrors.IsForbidden(err) {
		o.ReportForbidden(ctx, cs, err, consequence+"; "+config.GrantsMarks)
		return nil
	}
	return err
}

// Each calls f for each live object of a kind.
func (o *Objects) Each(ctx context.Context, gvk schema.GroupVersionKind, f func(unstructured.Unstructured)) error {
	const page = 250
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	for {
		if err := o.APIReader.List(ctx, list, client.Limit(page), client.Continue(list.GetContinue())); err != nil {
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
