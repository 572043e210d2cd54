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

// definitionKind is how the metadata of definitions are watched.
func (c *Cluster) definitionKind(gvk schema.GroupVersionKind) kinds.Kind {
	object := &liveMeta{}
	object.SetGroupVersionKind(gvk)
	concerned := func(ctx context.Context, before, after client.Object) []types.NamespacedName {
		return c.concernedByDefinition(ctx, gvk.GroupKind(), before, after)
	}
	return kinds.Kind{GVK: gvk, Object: object, Trim: trimDefinition, Concerned: concerned}
}

// trimDefinition keeps what the marks depend on: a definition may be thousands of times in memory.
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

// concernedByDefinition returns the selections that publish a definition, or are about to, whose
// Kustomization has applied it, that were held because of it, or that label what no selection holds. A
// change of its status is no concern.
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
	key := safeguard.Key{Group: kind.Group, Kind: kind.Kind, Name: object.GetName()}
	applier := c.selectionOf(ctx, ownerOf(object))
	var concerned []types.NamespacedName
	cared := false
	for _, cs := range selections {
		mine := c.served(ctx, cs)[key] || c.claims.hasRendered(cs.UID, key) || appliedBy(cs, object) ||
			client.ObjectKeyFromObject(cs).String() == applier
		cared = cared || mine
		if mine || cs.Status.Held != nil || cs.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled {
			concerned = append(concerned, client.ObjectKeyFromObject(cs))
		}
	}
	if !cared && ownsAnyMark(object) {
		concerned = append(concerned, c.anyOfKind(ctx, selections, kind)...)
	}
	return concerned
}

// selectionOf returns <namespace>/<name> of the selection whose artifact a Kustomization applies, as far
// as the cache knows it.
func (c *Cluster) selectionOf(ctx context.Context, kustomization types.NamespacedName) string {
	reader := c.Kinds.Readers()[kustomizationKind]
	ks := &kustomizev1.Kustomization{}
	if kustomization.Name == "" || reader == nil || reader.Get(ctx, kustomization, ks) != nil {
		return ""
	}
	return strings.Join(consumedArtifact(ks), "")
}

// differ reports whether more than the status changed.
func differ(before, after client.Object) bool {
	return before == nil || after == nil || before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// anyOfKind returns one selection that has published definitions of a kind, to look after what
// no selection holds.
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

// liveDefinitions returns the metadata of all definitions of the kinds. A kind that the cluster
// does not have, has none; one that may not be read is reported once, and left out. With fresh, a
// kind that was absent or forbidden is tried again at once. The objects must not be modified: they are
// the cache's.
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
