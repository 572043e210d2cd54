package live

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Compare compares two states of a selection, either of which may be nil, and adds what the newer one does to what
// lives in the cluster. A nil Cluster adds nothing.
func (c *Cluster) Compare(ctx context.Context, from, to *diff.Side) (*diff.Selection, error) {
	if c == nil || to == nil {
		return diff.Compare(ctx, from, to, nil)
	}
	var published []safeguard.Definition
	if from != nil {
		published = from.Published().Definitions
	}
	found, err := c.adopt(ctx, to.Selection, published, to.Result)
	if err != nil {
		return nil, fmt.Errorf("looking at the cluster: %w", err)
	}
	compared, err := diff.Compare(ctx, from, to, found.adopted)
	if err != nil {
		return nil, err
	}
	compared.Live = true
	compared.Bypassed = append(compared.Bypassed, found.bypassed...)
	compared.Notes = append(compared.Notes, ownerNotes(found.entering, found.live)...)
	for key, live := range found.live {
		if live.Kept {
			compared.Survives(key.Name)
		}
	}
	if err := compared.Adopt(to, found.live); err != nil {
		return nil, err
	}
	return compared, compared.Take(to.Result.Definitions, found.replaced)
}

// looked is what was found in a cluster.
type looked struct {
	// adopted is what live definitions lose, replaced what people set in them, and bypassed are the
	// names of those that Flux leaves alone.
	adopted  []safeguard.Change
	replaced map[safeguard.Key]guard.Replaced
	bypassed []string
	// entering are those that the publication takes over, live all definitions of the kinds that are looked at.
	entering []safeguard.Definition
	live     map[safeguard.Key]diff.Live
}

// adopt looks at the live definitions that the result takes over.
func (c *Cluster) adopt(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published []safeguard.Definition, result *render.Result) (looked, error) {
	next := result.Definitions
	contents := map[safeguard.Key]map[string]any{}
	lives := map[safeguard.Key]diff.Live{}
	var live []*guard.Live
	for _, gvk := range guard.Kinds(published, next) {
		objects, err := c.list(ctx, gvk)
		if err != nil {
			return looked{}, err
		}
		for i := range objects {
			object := metadataOf(&objects[i])
			live = append(live, object)
			contents[guard.LiveKey(object)] = objects[i].Object
			untouched := guard.Honored(cs, object) || guard.Untouched(object)
			lives[guard.LiveKey(object)] = diff.Live{
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
	// The controller marks what is bypassed before it publishes.
	adoption := guard.Adopt(cs, published, next, live, published == nil, func(o *guard.Live) bool { return guard.Honored(cs, o) })
	var entering []safeguard.Definition
	for _, object := range adoption.Entering {
		d := safeguard.Definition{APIVersion: object.APIVersion, Kind: object.Kind, Name: object.Name}
		d.Versions = safeguard.Versions(contents[d.Key()])
		entering = append(entering, d)
	}
	replaced, err := replacedBy(result, entering, contents)
	if err != nil {
		return looked{}, err
	}
	slices.Sort(bypassed)
	return looked{adopted: adoption.Changes(entering, replaced), replaced: replaced, bypassed: bypassed, entering: entering, live: lives}, nil
}

// replacedBy compares what people set in live definitions with the objects that take them over.
func replacedBy(result *render.Result, entering []safeguard.Definition,
	contents map[safeguard.Key]map[string]any) (map[safeguard.Key]guard.Replaced, error) {
	var names []string
	for _, d := range entering {
		names = append(names, d.Name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	objects, err := result.Objects(names)
	if err != nil {
		return nil, err
	}
	replaced := map[safeguard.Key]guard.Replaced{}
	for _, d := range entering {
		replaced[d.Key()] = guard.SettingsOf(objects[d.Name]).Replaces(guard.SettingsOf(contents[d.Key()]))
	}
	return replaced, nil
}

func metadataOf(u *unstructured.Unstructured) *guard.Live {
	return &guard.Live{
		TypeMeta: metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()},
		ObjectMeta: metav1.ObjectMeta{
			Name: u.GetName(), UID: u.GetUID(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
			ManagedFields: u.GetManagedFields(),
		},
	}
}
