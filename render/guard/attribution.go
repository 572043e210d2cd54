package guard

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// byCatalog returns the changes that follow from the catalog. The spec's are those that an edit
// since the last publication makes, as it was reviewed:
//
//	old spec, new catalog | new spec, old catalog | the change is
//	loses it              | whatever              | the catalog's
//	keeps it              | loses it              | the spec's
//	keeps it              | keeps it              | the catalog's: only both together make it
//	keeps it              | is not to be had      | the spec's
//
// Where the old spec and the new catalog do not go together, every change counts as the catalog's.
func byCatalog(ctx context.Context, last Published, next Next, changes []safeguard.Change) []safeguard.Change {
	if equality.Semantic.DeepEqual(last.Spec, RenderedSpec(next.Selection)) {
		return changes
	}
	old := next.Selection.DeepCopy()
	old.Spec = last.Spec
	sources, dropped := sourcesOf(old, next.Sources)
	changes = slices.DeleteFunc(changes, func(c safeguard.Change) bool { return dropped[c.Source] })
	catalogAlone, err := changesOf(ctx, old, sources, last.Definitions)
	if err != nil {
		return changes
	}
	specAlone, err := specAlone(ctx, last, next)
	if err != nil {
		return safeguard.ByCatalog(changes, starve(catalogAlone, next.Result.Selection))
	}
	return safeguard.Apart(changes, catalogAlone, specAlone)
}

// changesOf compares what was published with what a spec renders from sources.
func changesOf(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []Source,
	published []safeguard.Definition) ([]safeguard.Change, error) {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	opts.AllowEmpty = true
	alone, err := render.Render(ctx, Selections(sources), opts)
	if err != nil {
		return nil, err
	}
	return safeguard.Compare(published, alone.Definitions), nil
}

// specAlone returns what the new spec changes without the new catalog: it meets the sources of the
// last publication, if they are to be had. A source that was not there then is as it is now.
func specAlone(ctx context.Context, last Published, next Next) ([]safeguard.Change, error) {
	if last.Sources == nil {
		return nil, errors.New("the sources of that time are not known")
	}
	then, err := last.Sources(ctx)
	if err != nil {
		return nil, err
	}
	sources := slices.Clone(next.Sources)
	for i, s := range sources {
		j := slices.IndexFunc(then, func(t Source) bool { return t.Kind == s.Kind && t.Name == s.Name && t.Path == s.Path })
		if j >= 0 {
			sources[i] = then[j]
		}
	}
	return changesOf(ctx, next.Selection, sources, last.Definitions)
}

// starve makes removals of the lost versions of applications that the new rules of versions leave
// without any: had the catalog not taken these, the application might stay.
func starve(changes []safeguard.Change, decided selection.Result) []safeguard.Change {
	for i, c := range changes {
		starved := slices.ContainsFunc(decided.Decisions, func(d selection.Decision) bool {
			a := d.Application
			return d.Rule == selection.RuleVersions && c.Key == safeguard.Key{Group: a.Group, Kind: a.Kind, Name: a.Name}
		})
		if c.Reason == v1alpha1.VersionRemovalReason && starved {
			changes[i].Reason = v1alpha1.RemovalReason
		}
	}
	return changes
}

// sourcesOf returns the sources that the older spec is to meet, and the names of those that an edit
// of the spec has dropped without any in their place: what they had went with them.
//
// A source that the older spec does not name may be an older one under a new name, so that what is
// missing in it is missing in the catalog. The older spec then meets all sources of the newer.
func sourcesOf(old *v1alpha1.CatalogSelection, sources []Source) (met []Source, dropped map[string]bool) {
	dropped = map[string]bool{}
	for _, ref := range old.Spec.Sources {
		kind, key := SourceKey(old, ref)
		i := slices.IndexFunc(sources, func(s Source) bool {
			return s.Kind == kind && s.Name == key && s.Path == ref.Path
		})
		if i < 0 {
			dropped[ref.Name] = true
			continue
		}
		met = append(met, sources[i])
	}
	if len(met) < len(sources) {
		return sources, nil
	}
	for _, s := range sources {
		delete(dropped, s.Name.Name)
	}
	return met, dropped
}
