// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Compare compares two states of a selection, either of which may be nil, and adds the effects of the newer one on the
// live definitions. A nil Cluster adds nothing.
func (c *Cluster) Compare(ctx context.Context, from, to *comparing.Side) (*diff.Selection, error) {
	if c == nil || to == nil {
		return comparing.Compare(ctx, from, to, nil)
	}
	found, err := c.adopt(ctx, to.Selection, from.Published(), to.Result)
	if err != nil {
		return nil, fmt.Errorf("looking at the cluster: %w", err)
	}
	compared, err := comparing.Compare(ctx, from, to, found.adopted)
	if err != nil {
		return nil, err
	}
	compared.Live = true
	compared.Bypassed = append(compared.Bypassed, found.bypassed...)
	compared.Notes = append(compared.Notes, ownerNotes(found.entering, found.live)...)
	for key, live := range found.live {
		if live.Kept && key.IsDefinition() {
			compared.Survives(key.Name)
		}
	}
	if err := comparing.Adopt(ctx, compared, to, found.live); err != nil {
		return nil, err
	}
	return compared, compared.Take(to.Result.Definitions, found.replaced)
}

// adoption holds the live definitions and the effects of a publication on them.
type adoption struct {
	// adopted are the losses of live definitions, replaced maps them to the settings of users that are
	// replaced, and bypassed are the names of those that Flux does not update.
	adopted  []safeguard.Change
	replaced map[safeguard.Key]guard.Replaced
	bypassed []string
	// entering are the definitions that the publication adopts, live all definitions of the same kinds.
	entering []safeguard.Definition
	live     map[safeguard.Key]comparing.Live
}

// adopt compares the live definitions with the result that adopts them.
func (c *Cluster) adopt(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published []safeguard.Definition, result *render.Result) (adoption, error) {
	next := result.Live()
	contents := map[safeguard.Key]map[string]any{}
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
			contents[guard.LiveKey(object)] = objects[i].Object
			untouched := guard.Honored(cs, object) || guard.Untouched(object)
			lives[guard.LiveKey(object)] = comparing.Live{
				Object: objects[i].Object, Untouched: untouched,
				Kept: untouched || guard.Kept(object),
			}
		}
	}
	mine := map[safeguard.Key]bool{}
	for _, d := range slices.Concat(published, next) {
		mine[d.Key()] = true
	}
	var bypassed []string
	for _, object := range live {
		if guard.Honored(cs, object) && (mine[guard.LiveKey(object)] || guard.AppliedBy(cs, object)) {
			bypassed = append(bypassed, object.Name)
		}
	}
	// The controller marks bypassed definitions before it publishes.
	adopted := guard.Adopt(cs, published, next, live, published == nil, func(o *guard.Live) bool { return guard.Honored(cs, o) })
	var entering []safeguard.Definition
	settings := map[safeguard.Key]guard.Settings{}
	for _, object := range adopted.Entering {
		content := contents[guard.LiveKey(object)]
		d := installation.DefinitionOf(content)
		entering = append(entering, d)
		if d.Key().IsDefinition() {
			settings[d.Key()] = guard.SettingsOf(content)
		}
	}
	replaced, err := guard.Replacements(ctx, result, settings)
	if err != nil {
		return adoption{}, err
	}
	beside, err := c.beside(ctx, cs, published, result)
	if err != nil {
		return adoption{}, err
	}
	slices.Sort(bypassed)
	return adoption{adopted: slices.Concat(adopted.Changes(entering, replaced), beside), replaced: replaced, bypassed: bypassed, entering: entering, live: lives}, nil
}

// beside returns what operators that enter do to live objects of others, and what those do to them.
func (c *Cluster) beside(ctx context.Context, cs *v1alpha1.CatalogSelection, published []safeguard.Definition,
	result *render.Result) ([]safeguard.Change, error) {
	var live []unstructured.Unstructured
	for _, gvk := range guard.OperatorConflictKinds(result) {
		objects, err := c.list(ctx, gvk)
		if err != nil {
			return nil, err
		}
		live = append(live, objects...)
	}
	return guard.OperatorConflicts(ctx, cs, published, result, live, func(key safeguard.Key) safeguard.Key { return key })
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
