// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// highlights returns the lines with the changes that a reviewer must not miss.
func highlights(s *diff.Selection) []string {
	kinds := []struct {
		label string
		// of returns what the line has behind the name of an application, empty for the name alone; none leaves it out.
		of func(diff.Application) plaintext.Texts
	}{
		{"removed", that(func(a diff.Application) bool { return a.Change == diff.Removed && a.Deleted == nil })},
		{"removed, and deleted by Flux", that(func(a diff.Application) bool { return a.Deleted != nil && *a.Deleted })},
		{"removed, and kept by Flux", that(func(a diff.Application) bool { return a.Deleted != nil && !*a.Deleted })},
		{"other live releases are meant", that(func(a diff.Application) bool { return len(a.Identity) > 0 })},
		{"no upgrade any more", strandedIn},
		{"APIs removed", goneAPIs},
		{"stricter schema", that(func(a diff.Application) bool { return len(a.Schema) > 0 })},
		{"versions removed", removedVersions},
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
		var found []string
		for _, a := range s.Applications {
			found = append(found, each.Map(kind.of(a), func(more string) string { return a.Name + " " + more })...)
		}
		if len(found) > 0 {
			lines = append(lines, kind.label+": "+codes(found))
		}
	}
	return lines
}

// that names an application for which something holds.
func that(holds func(diff.Application) bool) func(diff.Application) plaintext.Texts {
	return func(a diff.Application) (found plaintext.Texts) {
		found.Add(holds(a), "")
		return found
	}
}

func removedVersions(a diff.Application) (found plaintext.Texts) {
	for _, v := range a.Versions {
		found.Add(a.Change == diff.Updated && v.Change == diff.Removed, "%s", labelOf(v))
	}
	return found
}

func sourceChanges(a diff.Application) (found plaintext.Texts) {
	found.Add(a.SourceChanged, "")
	for _, v := range a.Versions {
		found.Add(v.SourceChanged, "%s", v.Version)
	}
	return found
}

func stepsOf(kind string) func(diff.Application) plaintext.Texts {
	return func(a diff.Application) (found plaintext.Texts) {
		if h := a.Highest; h != nil {
			found.Add(h.Kind == kind, "%s -> %s", h.From, h.To)
		}
		return found
	}
}
