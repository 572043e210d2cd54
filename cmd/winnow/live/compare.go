// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Observe is a comparing.Observer of the effects of the newer state on the live definitions.
func (c *Cluster) Observe(ctx context.Context, from, to *comparing.Side, out *diff.Selection) error {
	if to == nil {
		return nil
	}
	found, err := c.adopt(ctx, to.Selection, from.Published(), to.Result)
	if err != nil {
		return fmt.Errorf("looking at the cluster: %w", err)
	}
	out.Live = true
	out.Bypassed = append(out.Bypassed, found.bypassed...)
	out.Notes = append(out.Notes, ownerNotes(found.Entering, found.live)...)
	for key, live := range found.live {
		if live.Kept && key.IsDefinition() {
			out.Survives(key.Name)
		}
	}
	if err := comparing.Adopt(ctx, out, from, to, found.live, found.Changes); err != nil {
		return err
	}
	return out.Take(to.Result.Definitions, found.Replaced)
}

// adoption is what a publication does to live definitions. Flux does not update what is bypassed. live has all definitions of
// the same kinds.
type adoption struct {
	*guard.Adopted
	bypassed []string
	live     map[safeguard.Key]comparing.Live
}

// adopt compares the live definitions with the result that adopts them.
func (c *Cluster) adopt(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published []safeguard.Definition, result *render.Result) (adoption, error) {
	next := result.Live()
	lives := map[safeguard.Key]comparing.Live{}
	var live []*guard.Live
	for _, gvk := range guard.Kinds(published, next) {
		objects, err := c.list(ctx, gvk)
		if err != nil {
			return adoption{}, err
		}
		for i := range objects {
			object := metadataOf(&objects[i])
			live = append(live, object)
			untouched := guard.Honored(cs, object) || guard.Untouched(object)
			lives[guard.LiveKey(object)] = comparing.Live{
				Object: objects[i].Object, Untouched: untouched,
				Kept: untouched || guard.Kept(object),
			}
		}
	}
	mine := each.By(slices.Concat(published, next), safeguard.Definition.Key)
	var bypassed []string
	for _, object := range live {
		if _, isMine := mine[guard.LiveKey(object)]; guard.Honored(cs, object) && (isMine || guard.AppliedBy(cs, object)) {
			bypassed = append(bypassed, object.Name)
		}
	}
	slices.Sort(bypassed)
	adopted, err := guard.Adoption{
		Selection: cs, Published: published, Result: result, Live: live, First: published == nil,
		// The controller marks bypassed definitions before it publishes.
		Marked: func(o *guard.Live) bool { return guard.Honored(cs, o) },
	}.Compare(ctx, &reader{c, lives})
	return adoption{adopted, bypassed, lives}, err
}

// reader has the live objects that were listed.
type reader struct {
	*Cluster
	listed map[safeguard.Key]comparing.Live
}

func (r *reader) Read(_ context.Context, objects []*guard.Live, do func(map[string]any)) error {
	for _, object := range objects {
		do(r.listed[guard.LiveKey(object)].Object)
	}
	return nil
}

func (r *reader) Each(ctx context.Context, gvk schema.GroupVersionKind, do func(unstructured.Unstructured)) error {
	objects, err := r.list(ctx, gvk)
	for _, object := range objects {
		do(object)
	}
	return err
}

func metadataOf(u *unstructured.Unstructured) *guard.Live {
	return &guard.Live{
		TypeMeta: metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
			ManagedFields: u.GetManagedFields(),
		},
	}
}

// ownerNotes returns a sentence for each Kustomization that owns definitions which the publication adopts.
func ownerNotes(entering []safeguard.Definition, live map[safeguard.Key]comparing.Live) []string {
	held := map[string]int{}
	for _, d := range entering {
		if owner := guard.OwnerOf(&unstructured.Unstructured{Object: live[d.Key()].Object}); owner.Name != "" {
			held[owner.String()]++
		}
	}
	var notes []string
	for _, owner := range slices.Sorted(maps.Keys(held)) {
		notes = append(notes, fmt.Sprintf("%s applied by the Kustomization %s: unless this artifact becomes its source, "+
			"the selection waits (Conflict) until it has let go", are(held[owner]), owner))
	}
	return notes
}

func are(n int) string {
	if n == 1 {
		return "1 live definition is"
	}
	return fmt.Sprintf("%d live definitions are", n)
}
