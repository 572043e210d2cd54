package guard

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// maxAdvice bounds the names with advice: there may be thousands.
const maxAdvice = 20

// unknownNames returns the names that an edit added to what it selects by and that match nothing, neither now
// nor at the last publication, if published applications are removed at the same time: a typo in spec.limit
// removes the application whose name was meant. So does one in the channels of spec.versions, or it removes some
// versions of it. The cause of the removals does not matter, nor whether they are excused.
func unknownNames(last Published, next Next, changes []safeguard.Change) []safeguard.Change {
	has := func(reason string) bool {
		return slices.ContainsFunc(changes, func(c safeguard.Change) bool { return c.Reason == reason })
	}
	removes, narrows := has(v1alpha1.RemovalReason), has(v1alpha1.VersionRemovalReason)
	if !removes && !narrows || last.Spec == nil {
		return nil
	}
	added, known := addedUnknown(last, next)
	if !removes {
		added = slices.DeleteFunc(added, func(m render.Mention) bool { return !m.NamesChannel() })
	}
	var unknown []safeguard.Change
	for i, m := range added {
		change := safeguard.Change{Reason: v1alpha1.UnknownNameReason, Field: m.Field, To: m.Value}
		if i < maxAdvice {
			change.Detail = ": " + known.Advice(m)
		}
		unknown = append(unknown, change)
	}
	return unknown
}

// AddsUnknown reports whether the spec selects by a name that is new since the last publication and matches
// nothing, neither now nor then: it may be the misspelt name of an application that moves to the selection.
func AddsUnknown(last Published, next Next) bool {
	added, _ := addedUnknown(last, next)
	return len(added) > 0
}

// addedUnknown returns the new mentions that match nothing, and the known values.
func addedUnknown(last Published, next Next) ([]render.Mention, render.Known) {
	added := render.IncludingMentions(next.Selection.Spec)
	if last.Spec != nil {
		before := render.IncludingMentions(*last.Spec)
		added = slices.DeleteFunc(added, func(m render.Mention) bool { return slices.ContainsFunc(before, m.SameAs) })
	}
	known := render.KnownOf(Selections(next.Sources))
	if added = slices.DeleteFunc(added, known.Matches); len(added) == 0 {
		return nil, known
	}
	known = known.And(knownBefore(last))
	return slices.DeleteFunc(added, known.Matches), known
}

// knownBefore returns the known values of the catalogs of the last publication.
func knownBefore(last Published) render.Known {
	known := render.KnownOf([]selection.Source{{Catalog: catalogOf(last.Sources...)}})
	for _, d := range last.Definitions {
		known.Names[d.Name] = true
	}
	for _, s := range last.Sources {
		for _, tier := range s.Tiers {
			known.Tiers[tier] = true
		}
		for _, label := range s.Labels {
			known.Labels[label] = true
		}
		for _, channel := range s.Channels {
			known.Channels[channel] = true
		}
	}
	return known
}
