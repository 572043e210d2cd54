// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// maxAdvice bounds the names with advice: there may be thousands.
const maxAdvice = 20

// unknownNames returns the names that an edit added to what it selects by and that match nothing, neither now
// nor at the last publication, if published applications are removed at the same time: a typo in a limit
// removes the application whose name was meant. So does one in the channels of spec.versions, or it removes, or
// strands, some versions of it. The cause of the removals does not matter, nor whether they are excused.
func unknownNames(last Published, next Next, changes []safeguard.Change) []safeguard.Change {
	has := func(reason string) bool {
		return slices.ContainsFunc(changes, func(c safeguard.Change) bool { return c.Reason == reason })
	}
	removes, narrows := has(v1alpha1.RemovalReason), has(v1alpha1.VersionRemovalReason) || has(v1alpha1.StrandedReason)
	if !removes && !narrows || last.Spec == nil {
		return nil
	}
	added := addedUnknown(last, next)
	if !removes {
		added = slices.DeleteFunc(added, func(u unknownName) bool { return !u.NamesChannel() })
	}
	var unknown []safeguard.Change
	for i, u := range added {
		change := safeguard.Change{Reason: v1alpha1.UnknownNameReason, Field: u.Field, To: u.Value}
		if i < maxAdvice {
			change.Detail = ": " + u.known.Advice(u.Mention)
		}
		unknown = append(unknown, change)
	}
	return unknown
}

// AddsUnknown reports whether the spec selects by a name that is new since the last publication and matches
// nothing, neither now nor then: it may be the misspelt name of an application that moves to the selection.
func AddsUnknown(last Published, next Next) bool { return len(addedUnknown(last, next)) > 0 }

// unknownName is a new mention that matches nothing, with the values that its sources had or have.
type unknownName struct {
	mention.Mention
	known mention.Known
}

// addedUnknown returns the new mentions that match nothing.
func addedUnknown(last Published, next Next) []unknownName {
	added := mention.Including(next.Selection.Spec)
	if last.Spec != nil {
		before := mention.Including(*last.Spec)
		added = slices.DeleteFunc(added, func(m mention.Mention) bool { return slices.ContainsFunc(before, m.SameAs) })
	}
	knowledge := mention.NewKnowledge(Selections(next.Sources))
	known := map[int]mention.Known{} // then and now, by source
	var unknown []unknownName
	for _, m := range added {
		now := knowledge.For(m)
		if now.Matches(m) {
			continue
		}
		if _, ok := known[m.Source()]; !ok {
			known[m.Source()] = now.And(knownBefore(last, next, m))
		}
		if both := known[m.Source()]; !both.Matches(m) {
			unknown = append(unknown, unknownName{m, both})
		}
	}
	return unknown
}

// knownBefore returns the known values of the catalogs of the last publication that a mention could match: for
// the limit of a source that was published from, only those of this source.
func knownBefore(last Published, next Next, m mention.Mention) mention.Known {
	sources, definitions := last.Sources, last.Definitions
	if i := m.Source(); i >= 0 && i < len(next.Sources) {
		now := next.Sources[i]
		same := func(r RecordedSource) bool { return r.is(now) }
		if j := slices.IndexFunc(sources, same); j >= 0 {
			sources, definitions = sources[j:j+1], nil
		}
	}
	known := mention.KnownOf([]selection.Source{{Catalog: catalogOf(sources...)}})
	for _, d := range definitions {
		known.Names.Insert(cmp.Or(d.Application, d.Name))
	}
	for _, s := range sources {
		known.Tiers.Insert(s.Tiers...)
		known.Labels.Insert(s.Labels...)
		known.Channels.Insert(s.Channels...)
	}
	return known
}
