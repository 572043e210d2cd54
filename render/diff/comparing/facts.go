// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// addFacts adds to the comparison of two catalogs, without a selection, what selections choose by: facts on applications
// that both have, and named lists.
func addFacts(s *diff.Selection, older, newer *catalog.Catalog) {
	before := each.By(older.Applications, func(a *catalog.Application) string { return a.Name })
	at := map[string]int{}
	for i, a := range s.Applications {
		at[a.Name] = i
	}
	for _, a := range newer.Applications {
		was := before[a.Name]
		if was == nil {
			continue
		}
		// A new deprecation is a field of its own.
		changes := slices.DeleteFunc(fielddiff.Of(saidOf(was), saidOf(a)), func(c fielddiff.Change) bool {
			return c.From == nil && c.IsAt("deprecated")
		})
		if len(changes) == 0 {
			continue
		}
		i, listed := at[a.Name]
		if !listed {
			i = len(s.Applications)
			definition := safeguard.Definition{APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name, Source: s.To.Sources[0].Name}
			s.Applications = append(s.Applications, newApplication(definition, diff.Unchanged))
		}
		s.Applications[i].Facts, _ = fielddiff.Bounded(changes, fielddiff.MaxFields)
	}
	slices.SortStableFunc(s.Applications, func(a, b diff.Application) int { return cmp.Compare(a.Name, b.Name) })
	s.Lists, _ = fielddiff.Bounded(fielddiff.Of(listsOf(older), listsOf(newer)), fielddiff.MaxFields)
	if s.Change == diff.Unchanged && (len(s.Lists) > 0 || slices.ContainsFunc(s.Applications, diff.Application.HasFacts)) {
		s.Change = diff.Updated
	}
}

// saidOf returns what a catalog states about an application, in JSON's types.
func saidOf(a *catalog.Application) map[string]any {
	all := map[string]any{"labels": anyOf(a.Metadata.Labels), "annotations": anyOf(a.Metadata.Annotations)}
	maps.Copy(all, a.Metadata.Extra)
	for name, text := range map[string]string{"tier": a.Metadata.Tier, "deprecated": a.Metadata.Deprecated} {
		if text != "" {
			all[name] = text
		}
	}
	return all
}

// listsOf returns the named lists of a catalog. The order of a list is no fact.
func listsOf(c *catalog.Catalog) map[string]any {
	all := map[string]any{}
	for name, list := range c.Lists {
		all[name] = slices.Sorted(slices.Values(list))
	}
	return all
}

func anyOf(texts map[string]string) map[string]any {
	all := map[string]any{}
	for name, text := range texts {
		all[name] = text
	}
	return all
}
