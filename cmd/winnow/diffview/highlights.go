// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// highlights returns the lines with the changes that a reviewer must not miss.
func highlights(s *diff.Selection) []string {
	kinds := []struct {
		label string
		of    func(diff.Application) []string
	}{
		{"removed", that(func(a diff.Application) bool { return a.Change == diff.Removed && a.Deleted == nil })},
		{"removed, and deleted by Flux", removed(true)},
		{"removed, and kept by Flux", removed(false)},
		{"other live releases are meant", that(func(a diff.Application) bool { return len(a.Identity) > 0 })},
		{"no upgrade any more", strandedIn},
		{"APIs removed", goneAPIs},
		{"stricter schema", that(func(a diff.Application) bool { return len(a.Schema) > 0 })},
		{"versions removed", versionsOf(diff.Removed)},
		{"same version, another source", sourceChanges},
		{"default namespace changed", that(func(a diff.Application) bool { return a.DefaultNamespace != nil })},
		{"major", stepsOf(diff.StepMajor)},
		{"minor", stepsOf(diff.StepMinor)},
		{"patch", stepsOf(diff.StepPatch)},
		{"lower", stepsOf(diff.StepLower)},
		{"heads of channels", headSteps},
		{"facts changed", that(func(a diff.Application) bool { return len(a.Facts) > 0 })},
		{"deprecated", that(func(a diff.Application) bool { return a.Deprecated != "" })},
		{"channels deprecated", deprecatedChannels},
		{"versions deprecated", that(func(a diff.Application) bool { return len(a.DeprecatedVersions) > 0 })},
		{"no mirror", that(func(a diff.Application) bool { return len(a.Unmirrored) > 0 || a.Unsearched != "" })},
		{"added", that(func(a diff.Application) bool { return a.Change == diff.Added })},
	}
	var lines []string
	for _, kind := range kinds {
		found := slices.Concat(each.Map(s.Applications, kind.of)...)
		if len(found) == 0 {
			continue
		}
		lines = append(lines, kind.label+": "+excerpt.Names(found, maxNames))
	}
	return lines
}

func textIf(holds bool, text string) []string {
	if !holds {
		return nil
	}
	return []string{text}
}

// that names an application for which something holds.
func that(holds func(diff.Application) bool) func(diff.Application) []string {
	return func(a diff.Application) []string { return textIf(holds(a), shortCode(a.Name)) }
}

func removed(deleted bool) func(diff.Application) []string {
	return that(func(a diff.Application) bool { return a.Deleted != nil && *a.Deleted == deleted })
}

func versionsOf(change diff.Change) func(diff.Application) []string {
	return func(a diff.Application) []string {
		var found []string
		for _, v := range a.Versions {
			if a.Change == diff.Updated && v.Change == change {
				found = append(found, shortCode(a.Name+" "+labelOf(v)))
			}
		}
		return found
	}
}

func sourceChanges(a diff.Application) []string {
	found := textIf(a.SourceChanged, shortCode(a.Name))
	for _, v := range a.Versions {
		found = append(found, textIf(v.SourceChanged, shortCode(a.Name+" "+v.Version))...)
	}
	return found
}

func stepsOf(kind string) func(diff.Application) []string {
	return func(a diff.Application) []string {
		if a.Highest == nil || a.Highest.Kind != kind {
			return nil
		}
		return []string{shortCode(fmt.Sprintf("%s %s -> %s", a.Name, a.Highest.From, a.Highest.To))}
	}
}
