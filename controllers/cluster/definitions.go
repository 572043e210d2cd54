package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

const (
	reconcileAnnotation = guard.ReconcileAnnotation
	pruneAnnotation     = guard.PruneAnnotation
	disabled            = guard.Disabled
	marksOwner          = guard.MarksOwner
)

// liveMeta is the metadata of a live definition.
type liveMeta = guard.Live

// definitionKind describes the watch of the metadata of definitions.
func (c *Cluster) definitionKind(gvk schema.GroupVersionKind) kinds.Kind {
	object := &liveMeta{}
	object.SetGroupVersionKind(gvk)
	concerned := func(ctx context.Context, before, after client.Object) []types.NamespacedName {
		return c.concernedByDefinition(ctx, gvk.GroupKind(), before, after)
	}
	return kinds.Kind{GVK: gvk, Object: object, Trim: trimDefinition, Concerned: concerned}
}

// trimDefinition keeps only the metadata that the marks depend on, because thousands of definitions are cached.
func trimDefinition(o client.Object) {
	kept := map[string]string{}
	for _, key := range []string{reconcileAnnotation, pruneAnnotation, v1alpha1.BypassMarkAnnotation} {
		if value, ok := o.GetAnnotations()[key]; ok {
			kept[key] = value
		}
	}
	o.SetAnnotations(kept)
	o.SetManagedFields(slices.DeleteFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager != marksOwner
	}))
}

// concernedByDefinition returns the selections that publish or render a definition, whose Kustomization has
// applied it, that are held, or that label unmanaged definitions. A change of its status alone concerns none.
func (c *Cluster) concernedByDefinition(ctx context.Context, kind schema.GroupKind,
	before, after client.Object) []types.NamespacedName {
	if !differ(before, after) {
		return nil
	}
	object := after
	if object == nil {
		object = before
	}
	selections, err := c.others(ctx, &v1alpha1.CatalogSelection{})
	if err != nil {
		if ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "finding the selections of a definition", "definition", object.GetName())
		}
		return nil
	}
	key := safeguard.KeyOf(kind.Group, kind.Kind, object.GetNamespace(), object.GetName())
	applier := c.selectionOf(ctx, ownerOf(object))
	var concerned []types.NamespacedName
	found := false
	for _, cs := range selections {
		mine := c.served(ctx, cs)[key] || c.claims.hasRendered(cs.UID, key) || appliedBy(cs, object) ||
			client.ObjectKeyFromObject(cs).String() == applier
		found = found || mine
		if mine || cs.Status.Held != nil || cs.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled {
			concerned = append(concerned, client.ObjectKeyFromObject(cs))
		}
	}
	if !found && ownsAnyMark(object) {
		concerned = append(concerned, c.anyOfKind(ctx, selections, kind)...)
	}
	return concerned
}

// selectionOf returns <namespace>/<name> of the selection whose artifact a Kustomization applies, according to
// the cache; empty if it is not known.
func (c *Cluster) selectionOf(ctx context.Context, kustomization types.NamespacedName) string {
	reader := c.Kinds.Readers()[kustomizationKind]
	ks := &kustomizev1.Kustomization{}
	if kustomization.Name == "" || reader == nil || reader.Get(ctx, kustomization, ks) != nil {
		return ""
	}
	return strings.Join(consumedArtifact(ks), "")
}

// differ reports whether more than the status changed, or the object was created or deleted.
func differ(before, after client.Object) bool {
	return before == nil || after == nil || before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// anyOfKind returns one selection that serves definitions of a kind, if there is one: it removes the marks of
// definitions that no selection holds.
func (c *Cluster) anyOfKind(ctx context.Context, selections []*v1alpha1.CatalogSelection, kind schema.GroupKind) []types.NamespacedName {
	for _, cs := range selections {
		for key := range c.served(ctx, cs) {
			if key.Group == kind.Group && key.Kind == kind.Kind {
				return []types.NamespacedName{client.ObjectKeyFromObject(cs)}
			}
		}
	}
	return nil
}

func keyOf(object *liveMeta) safeguard.Key { return guard.LiveKey(object) }

func appliedBy(cs *v1alpha1.CatalogSelection, object client.Object) bool {
	return guard.AppliedBy(cs, object)
}

func bypassed(object client.Object) bool { return guard.Bypassed(object) }

func untouched(object client.Object) bool { return guard.Untouched(object) }

func owns(object client.Object, key string) bool { return guard.Owns(object, key) }

func ownerOf(object client.Object) types.NamespacedName { return guard.OwnerOf(object) }

// liveDefinitions returns the metadata of all definitions of the kinds. A kind that is absent has none; a
// forbidden kind is reported once and left out. With fresh, absent and forbidden kinds are tried again at once.
// The objects are shared with the cache and must not be modified.
func (c *Cluster) liveDefinitions(ctx context.Context, cs *v1alpha1.CatalogSelection,
	gvks []schema.GroupVersionKind, fresh bool) ([]*liveMeta, error) {
	look := c.Kinds.Look
	if fresh {
		look = c.Kinds.Probe
	}
	var live []*liveMeta
	for _, gvk := range gvks {
		reader, err := look(ctx, c.definitionKind(gvk), client.ObjectKeyFromObject(cs))
		if errors.Is(err, kinds.ErrForbidden) {
			c.reportForbidden(ctx, cs, err, "live definitions are neither guarded nor marked; kubectl apply -k config/marks allows it")
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
