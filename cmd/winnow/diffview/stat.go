// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// statOf summarizes the changes of an application in a few words.
func statOf(a diff.Application) string {
	var parts plaintext.Texts
	parts.Add(a.Change == diff.Removed, "removed %s", byCause(a.Cause))
	if a.Deleted != nil {
		parts = append(parts, map[bool]string{true: "Flux deletes it", false: "Flux keeps it"}[*a.Deleted])
	}
	parts.Add(a.Change == diff.Added, "added")
	parts.Add(a.Adopted, "adopted")
	parts.Add(a.Untouched, "Flux leaves it alone")
	parts.Add(a.Change == diff.Unchanged && !a.Untouched, "as it is")
	if h := a.Highest; h != nil {
		parts.Add(true, "%s -> %s %s", h.From, h.To, h.Kind)
	}
	parts.Add(len(a.Identity) > 0, "IDENTITY")
	parts.Add(a.SourceChanged, "another chart")
	parts = append(parts, packageStat(a)...)
	parts = append(parts, versionStat(a)...)
	parts.Add(len(a.Schema) > 0, "STRICTER SCHEMA")
	parts.Add(a.DefaultNamespace != nil, "DEFAULT NAMESPACE")
	if v := a.Values; v != nil {
		parts.Add(true, "values +%d -%d", v.Added, v.Removed)
	}
	logos := len(each.Where(a.Fields, diff.Field.IsLogo))
	fields := len(a.Fields) + a.FieldsOmitted - logos
	parts.Add(logos > 0, "logo")
	parts.Add(fields > 0, "%s", plaintext.Count(fields, "field"))
	parts.Add(len(a.Facts) > 0, "%s", plaintext.Count(len(a.Facts), "fact"))
	parts.Add(a.Deprecated != "", "deprecated")
	parts.Add(len(a.DeprecatedVersions) > 0, "%s deprecated", plaintext.Count(len(a.DeprecatedVersions), "version"))
	parts.Add(len(a.Unmirrored) > 0 || a.Unsearched != "", "no mirror")
	if len(parts) == 0 {
		return "updated"
	}
	return strings.Join(parts, ", ")
}

// versionStat counts the changed versions of an application.
func versionStat(a diff.Application) []string {
	counts := map[diff.Change]int{}
	elsewhere := 0
	for _, v := range a.Versions {
		if v.SourceChanged {
			elsewhere++
		} else {
			counts[v.Change]++
		}
	}
	var signs []string
	for _, change := range []diff.Change{diff.Added, diff.Removed, diff.Replaced} {
		if n := counts[change]; n > 0 {
			signs = append(signs, fmt.Sprintf("%s%d", sign(change), n))
		}
	}
	var parts plaintext.Texts
	parts.Add(len(signs) > 0, "versions %s", strings.Join(signs, " "))
	parts.Add(elsewhere > 0, "%s from another source", plaintext.Count(elsewhere, "version"))
	return parts
}

// lists returns two lists of the applications: with the summary of each, and with its most serious change. Applications with the
// same text share a line.
func lists(s *diff.Selection) []string {
	return []string{listOf(applicationChanges(s, statOf)), listOf(applicationChanges(s, mostSerious))}
}

func listOf(all []change) string {
	if len(all) == 0 {
		return ""
	}
	var lines strings.Builder
	for _, group := range each.Group(all, func(c change) string { return c.sign + " " + c.headline }) {
		c := group[0]
		if len(group) == 1 {
			fmt.Fprintln(&lines, plaintext.Brief(title(group), maxCode))
			continue
		}
		fmt.Fprintf(&lines, "%s %d %s:\n%s\n", c.sign, len(group), c.headline, plaintext.Wrap(strings.Join(namesOf(group), " "), "  "))
	}
	return fold("All "+plaintext.Count(len(all), "application")+" in short", fence("", lines.String()))
}

// mostSerious returns the most serious change of an application.
func mostSerious(a diff.Application) string {
	gone := func(v diff.Version) bool { return v.Change == diff.Removed }
	switch {
	case a.Deleted != nil && *a.Deleted:
		return "removed, Flux deletes"
	case a.Change == diff.Removed:
		return "removed"
	case len(a.Identity) > 0:
		return "other live releases"
	case len(strandedIn(a)) > 0:
		return "versions stranded"
	case !a.IsPackage() && slices.ContainsFunc(a.Versions, gone):
		return "versions removed"
	case len(sourceChanges(a)) > 0:
		return "from another source"
	case a.Highest != nil:
		return a.Highest.Kind
	}
	return string(a.Change)
}

// fold returns parts that are shown on a click at the summary, which is HTML.
func fold(summary string, parts ...string) string {
	return "<details>\n<summary>" + summary + "</summary>\n\n" + strings.Join(parts, "\n") + "\n</details>\n"
}
