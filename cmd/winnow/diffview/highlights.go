// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// highlights returns the lines with the changes that a reviewer must not miss.
func highlights(s *diff.Selection) []string {
	kinds := []struct {
		label string
		of    func(diff.Application) []string
	}{
		{"removed", func(a diff.Application) []string {
			return textIf(a.Change == diff.Removed && a.Deleted == nil, shortCode(a.Name))
		}},
		{"removed, and deleted by Flux", removed(true)},
		{"removed, and kept by Flux", removed(false)},
		{"other live releases are meant", func(a diff.Application) []string { return textIf(len(a.Identity) > 0, shortCode(a.Name)) }},
		{"no upgrade any more", strandedIn},
		{"APIs removed", goneAPIs},
		{"versions removed", versionsOf(diff.Removed)},
		{"same version, another source", sourceChanges},
		{"default namespace changed", func(a diff.Application) []string {
			return textIf(a.DefaultNamespace != nil, shortCode(a.Name))
		}},
		{"major", stepsOf(diff.StepMajor)},
		{"minor", stepsOf(diff.StepMinor)},
		{"patch", stepsOf(diff.StepPatch)},
		{"lower", stepsOf(diff.StepLower)},
		{"heads of channels", headSteps},
		{"facts changed", func(a diff.Application) []string { return textIf(len(a.Facts) > 0, shortCode(a.Name)) }},
		{"deprecated", func(a diff.Application) []string { return textIf(a.Deprecated != "", shortCode(a.Name)) }},
		{"channels deprecated", deprecatedChannels},
		{"versions deprecated", func(a diff.Application) []string { return textIf(len(a.DeprecatedVersions) > 0, shortCode(a.Name)) }},
		{"no mirror", func(a diff.Application) []string {
			return textIf(len(a.Unmirrored) > 0 || a.Unsearched != "", shortCode(a.Name))
		}},
		{"added", withChange(diff.Added)},
	}
	var lines []string
	for _, kind := range kinds {
		var found []string
		for _, a := range s.Applications {
			found = append(found, kind.of(a)...)
		}
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

func withChange(change diff.Change) func(diff.Application) []string {
	return func(a diff.Application) []string { return textIf(a.Change == change, shortCode(a.Name)) }
}

func removed(deleted bool) func(diff.Application) []string {
	return func(a diff.Application) []string {
		return textIf(a.Deleted != nil && *a.Deleted == deleted, shortCode(a.Name))
	}
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
