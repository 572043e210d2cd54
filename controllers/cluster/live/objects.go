// SPDX-License-Identifier: Apache-2.0

// Package live reads the live objects that concern a selection: their metadata from watches, and their content from the API server.
// It must not know who may publish them.
package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Objects reads the live objects of this cluster. All exported fields are required.
type Objects struct {
	*access.Access

	Kustomizations *consumers.Kustomizations
	// Concerned returns the selections that the change of a live object of a kind concerns.
	Concerned func(context.Context, schema.GroupVersionKind, client.Object) []types.NamespacedName
	// Reported is called after the status of the live object of an instance may have changed, and nothing that Concerned
	// depends on.
	Reported func(context.Context, client.Object)

	// inspected maps a UID to the kinds of the definitions that the selection rendered last.
	inspected sync.Map
}

// Forget deletes the state of a selection.
func (o *Objects) Forget(uid types.UID) { o.inspected.Delete(uid) }

// kind describes the watch of the metadata of definitions and of the objects of instances. A change of a status alone
// concerns no selection.
func (o *Objects) kind(gvk schema.GroupVersionKind) kinds.Kind {
	object := &guard.Live{}
	object.SetGroupVersionKind(gvk)
	concerned := func(ctx context.Context, before, after client.Object) []types.NamespacedName {
		if !differ(before, after) {
			key := safeguard.KeyOf(gvk.Group, gvk.Kind, after.GetNamespace(), after.GetName())
			if !key.IsDefinition() && before.GetResourceVersion() != after.GetResourceVersion() {
				o.Reported(ctx, after)
			}
			return nil
		}
		var names []types.NamespacedName
		for _, object := range []client.Object{before, after} {
			if object != nil {
				names = append(names, o.Concerned(ctx, gvk, object)...)
			}
		}
		return names
	}
	return kinds.Kind{GVK: gvk, Object: object, Trim: trim, Index: index, Concerned: concerned}
}

// trim keeps only the metadata that the marks depend on, because thousands of definitions are cached.
func trim(o client.Object) {
	kept := map[string]string{}
	for _, key := range []string{guard.ReconcileAnnotation, guard.PruneAnnotation, v1alpha1.BypassMarkAnnotation, v1alpha1.SourceDigestAnnotation,
		reserved.ManagerAnnotation} {
		if value, ok := o.GetAnnotations()[key]; ok {
			kept[key] = value
		}
	}
	o.SetAnnotations(kept)
	o.SetManagedFields(slices.DeleteFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager != guard.MarksOwner && !guard.SetsBypass(f)
	}))
}

// differ reports whether more than the status changed, or the object was created or deleted.
func differ(before, after client.Object) bool {
	return before == nil || after == nil || before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// readers returns the caches of kinds. A kind that is absent has none; a forbidden kind is reported once, added to unread and left
// out. With fresh, absent and forbidden kinds are tried again at once.
func (o *Objects) readers(ctx context.Context, cs *v1alpha1.CatalogSelection,
	gvks []schema.GroupVersionKind, fresh bool, unread map[schema.GroupKind]bool) ([]*kinds.Reader, error) {
	var readers []*kinds.Reader
	for _, gvk := range gvks {
		reader, err := o.Kinds.Look(ctx, o.kind(gvk), client.ObjectKeyFromObject(cs), fresh)
		if errors.Is(err, kinds.ErrForbidden) {
			unread[gvk.GroupKind()] = true
			o.ReportForbidden(ctx, cs, err, "live definitions are neither guarded nor marked; "+config.GrantsMarks)
		}
		if kinds.Settled(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		readers = append(readers, reader)
	}
	return readers, nil
}

// Metadata returns a reader of the metadata of live objects, from the watch of their kind. The error wraps kinds.ErrAbsent or
// kinds.ErrForbidden if that is why there is no watch.
func (o *Objects) Metadata(ctx context.Context, cs *v1alpha1.CatalogSelection, gvk schema.GroupVersionKind) (client.Reader, error) {
	return o.Kinds.Look(ctx, o.kind(gvk), client.ObjectKeyFromObject(cs), false)
}

// Marked reports whether an object has a mark of Winnow that keeps Flux from updating or deleting it.
func Marked(object client.Object) bool {
	return guard.Owns(object, guard.ReconcileAnnotation) || guard.Owns(object, guard.PruneAnnotation)
}
