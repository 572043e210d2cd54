// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// attributed returns the changes with those first that the new revisions cause alone. Whoever approves a revision has seen
// what it takes away from the spec of the last publication, and not what an edit of the spec, or of what Flux takes from
// the revision, takes away besides.
func attributed(ctx context.Context, last Published, next Next, changes []safeguard.Change) []safeguard.Change {
	if len(changes) == 0 {
		return nil
	}
	rest := changes
	switch sources := last.sourcesIn(next); {
	case sources == nil:
	case edited(last, next):
		rest = safeguard.Unexcused(changes, byRevisions(ctx, last, next, sources))
	default:
		rest = nil
	}
	alone := safeguard.Unexcused(changes, rest)
	for i := range alone {
		alone[i].ByRevision = true
	}
	return slices.Concat(alone, rest)
}

// byRevisions returns the changes that the spec of the last publication makes over the new catalogs of its sources; none
// if it cannot be rendered.
func byRevisions(ctx context.Context, last Published, next Next, sources []Source) []safeguard.Change {
	before := next.Selection.DeepCopy()
	before.Spec = *last.Spec.DeepCopy()
	opts, err := render.FromSpec(before)
	if err != nil {
		return nil
	}
	opts.AllowEmpty = true
	result, err := render.Render(ctx, Selections(sources), opts)
	if err != nil {
		return nil
	}
	return explained(safeguard.Compare(last.Definitions, result.Compared()), result.Unresolved)
}

// sourcesIn returns the sources of the last publication with their new catalogs. It returns nil if one is not among the
// new ones, or if other content than the last publication had is taken from its revision: by another place, or another
// filter.
func (p Published) sourcesIn(next Next) []Source {
	if p.Spec == nil || len(p.Filters) != len(p.Spec.Sources) || len(next.Sources) != len(next.Selection.Spec.Sources) {
		return nil
	}
	found := make([]Source, len(p.Spec.Sources))
	for i, before := range p.Spec.Sources {
		kind, name := SourceKey(next.Selection, before)
		j := slices.IndexFunc(next.Selection.Spec.Sources, func(now v1alpha1.SourceReference) bool {
			k, n := SourceKey(next.Selection, now)
			return k == kind && n == name && render.LocationOf(now).Key() == render.LocationOf(before).Key()
		})
		if j < 0 || next.Sources[j].Filter != p.Filters[i] {
			return nil
		}
		found[i] = next.Sources[j]
	}
	return found
}

// Filters returns those of the sources.
func Filters(sources []Source) []string {
	filters := make([]string, len(sources))
	for i, s := range sources {
		filters[i] = s.Filter
	}
	return filters
}
