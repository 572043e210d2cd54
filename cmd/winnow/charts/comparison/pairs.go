// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// pair is a chart with one set of values, before and after.
type pair struct {
	before, after       charts.Chart
	beforeUse, afterUse charts.Use
}

// pairsOf returns what is upgraded: the instances, and with the default values the versions that no instance has. A version that
// is new is compared with the one below it. What stays as it is has no pair.
func pairsOf(before, after []charts.Chart) (all []pair) {
	for _, newer := range after {
		for _, use := range newer.Uses {
			if use.Instance == "" {
				continue
			}
			if p, ok := ofInstance(before, newer, use); ok {
				all = append(all, p)
			}
		}
		if len(newer.Uses) > 0 && newer.Uses[0].Instance != "" {
			continue
		}
		if older, ok := below(before, after, newer); ok {
			all = append(all, pair{older, newer, older.Defaults, newer.Defaults})
		}
	}
	all = slices.DeleteFunc(all, pair.isSame)
	slices.SortStableFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.after.Application, b.after.Application), cmp.Compare(a.afterUse.Instance, b.afterUse.Instance))
	})
	return all
}

// ofInstance finds the chart that an instance had.
func ofInstance(before []charts.Chart, newer charts.Chart, use charts.Use) (pair, bool) {
	for _, older := range before {
		for _, was := range older.Uses {
			if was.Instance == use.Instance && older.Application == newer.Application {
				return pair{older, newer, was, use}, true
			}
		}
	}
	return pair{}, false
}

// below returns the chart of the same version, or else of the highest lower version, or else of the highest version that is gone,
// which may have to go down.
func below(before, after []charts.Chart, newer charts.Chart) (found charts.Chart, ok bool) {
	var gone *charts.Chart
	for i, older := range before {
		switch {
		case older.Application != newer.Application:
		case older.Version == newer.Version:
			return older, true
		case isHigher(newer.Version, older.Version):
			if !ok || isHigher(older.Version, found.Version) {
				found, ok = older, true
			}
		case !has(after, older) && (gone == nil || isHigher(older.Version, gone.Version)):
			gone = &before[i]
		}
	}
	if !ok && gone != nil {
		return *gone, true
	}
	return found, ok
}

// has reports whether there is a version of an application.
func has(all []charts.Chart, version charts.Chart) bool {
	return slices.ContainsFunc(all, func(c charts.Chart) bool { return c.Application == version.Application && c.Version == version.Version })
}

// isHigher reports whether a version has a higher number than another one; both have one.
func isHigher(version, other string) bool {
	parsed := numbered.Of([]string{version, other})
	return parsed[0].Parsed != nil && parsed[1].Parsed != nil && numbered.Descending(parsed[0], parsed[1]) < 0
}

// isSame reports whether nothing of a pair changes.
func (p pair) isSame() bool {
	return p.before.Mirrored == p.after.Mirrored && p.before.Missing == p.after.Missing && bytes.Equal(p.beforeUse.Mirrored, p.afterUse.Mirrored) && p.isSameRelease()
}

func (p pair) isSameRelease() bool {
	return p.beforeUse.ReleaseName == p.afterUse.ReleaseName && p.beforeUse.Namespace == p.afterUse.Namespace
}
