// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxInline bounds the names in front of a statement.
const maxInline = 5

const offlineNote = "Unknown without --live: which definitions live in the cluster already (adoption), and which of them are bypassed."

// withoutCluster reports whether --live was not used, though it would add to the comparison.
func withoutCluster(s *diff.Selection) bool {
	return !s.Live && !s.NothingLives && !s.Everything && s.To != nil && s.Error == "" && len(s.Unknown) == 0
}

// Name returns the name of a selection for messages: its namespace and name, and its cluster or file.
func Name(s *diff.Selection) string {
	if s.Everything {
		return "everything"
	}
	name := strings.TrimSpace(s.Place().Kind + " " + s.Namespace + "/" + s.Name)
	where := each.Where([]string{s.Cluster, s.File}, func(place string) bool { return place != "" })
	if len(where) > 0 {
		name += " (" + strings.Join(where, ": ") + ")"
	}
	return plaintext.Line(name)
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

type counted struct {
	n    int
	word string
}

func applicationCounts(s *diff.Selection) []string {
	c := s.Counts
	return counts([]counted{
		{c.Removed, "removed" + removalOutcome(s)}, {c.Updated, "updated"}, {c.Added, "added"}, {c.Adopted, "adopted (they live already)"},
	}, "application")
}

func versionCounts(c diff.Counts) []string {
	return counts([]counted{
		{c.VersionsRemoved, "removed"}, {c.SourceChanges, "with another source"},
		{c.VersionsReplaced - c.SourceChanges, "changed"}, {c.VersionsAdded, "added"},
	}, "version")
}

// factCounts counts what two catalogs say, beside their definitions.
func factCounts(s *diff.Selection) []string {
	var parts plaintext.Texts
	facts := len(each.Where(s.Applications, func(a diff.Application) bool { return len(a.Facts) > 0 }))
	parts.Add(facts > 0, "facts on %s changed", plaintext.Count(facts, "application"))
	parts.Add(len(s.Lists) > 0, "%s changed", plaintext.Count(len(s.Lists), "list"))
	return parts
}

// counts formats the counts above zero, with the noun at the first one only.
func counts(all []counted, thing string) []string {
	var parts []string
	for _, one := range all {
		switch {
		case one.n == 0:
		case len(parts) == 0:
			parts = append(parts, plaintext.Count(one.n, thing)+" "+one.word)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.word))
		}
	}
	return parts
}

func applicationHeadline(a diff.Application) string {
	adopted := ""
	if a.Adopted { // it enters the artifact, and lives already
		adopted = "adopted, "
	}
	switch a.Change {
	case diff.Removed:
		return "removed " + byCause(a.Cause) + ", because " + a.Reason
	case diff.Added:
		return "added"
	case diff.Unchanged:
		if a.Untouched {
			return "lives in the cluster, and Flux leaves it alone"
		}
		return adopted + "its definition stays as it is"
	}
	if h := a.Highest; h != nil {
		return fmt.Sprintf("%supdated, %s -> %s (%s)", adopted, h.From, h.To, h.Kind)
	}
	return adopted + "updated"
}

// byCause names the cause of a loss.
func byCause(cause diff.Cause) string {
	others := map[diff.Cause]string{
		diff.CauseSpec: "by the edit of the selection", diff.CausePlatform: "by spec.platform", diff.CausePromotion: "by the promotion",
		diff.CauseAdoption: "by the adoption: only the live definition has it",
	}
	return cmp.Or(others[cause], "by the catalog")
}

func versionLine(a diff.Application, v diff.Version) string {
	switch {
	case v.SourceChanged:
		return v.Version + " with another source:"
	case v.Change == diff.Replaced:
		return v.Version + " changed:"
	case v.Change == diff.Removed && a.Change != diff.Removed:
		return v.Version + ", removed " + byCause(v.Cause) + uninstalled(v)
	}
	return v.Version + uninstalled(v)
}

// uninstalled names the installations of a removed version that are known; empty without any.
func uninstalled(v diff.Version) string {
	if len(v.Installations) == 0 {
		return ""
	}
	return ", with " + excerpt.Names(v.Installations, maxInline)
}

// shownVersions returns the versions to print. It joins many versions of an application that is added or removed
// as a whole to one, with at most the given number of names.
func shownVersions(a diff.Application, most int) []diff.Version {
	if len(a.Versions) <= maxInline || a.Change != diff.Removed && a.Change != diff.Added {
		return a.Versions
	}
	line := excerpt.List(a.Versions, most, func(v diff.Version) string { return v.Version })
	return []diff.Version{{Version: line, Change: a.Change}}
}

func fromTo(f diff.Field) string {
	switch {
	case f.From == "":
		return "added: " + f.To
	case f.To == "":
		return "removed, was " + f.From
	case f.From == f.To: // both values are cut or replaced by a word
		return f.From + " changed"
	}
	return f.From + " -> " + f.To
}

func fieldLine(f diff.Field) string { return f.Path + " " + fromTo(f) }

// liveEffects returns the effects on installations other than a new version.
func liveEffects(a diff.Application) []string {
	var all plaintext.Texts
	switch {
	case a.Deleted == nil:
	case *a.Deleted && a.OfKKP():
		all = append(all, "Flux deletes the definition, and KKP all its installations")
	case *a.Deleted:
		all = append(all, "Flux deletes the definition")
	default:
		all = append(all, "Flux keeps the definition: it stays in the cluster, and is updated no more")
	}
	isLost := func(v diff.Version) bool { return v.Change == diff.Removed }
	all.Add(a.Change == diff.Updated && a.OfKKP() && slices.ContainsFunc(a.Versions, isLost),
		"KKP uninstalls what runs a removed version, in all user clusters")
	for _, f := range a.Identity {
		all = append(all, "IDENTITY "+fieldLine(f)+": its releases are orphaned, and installed anew")
	}
	all.Add(a.SourceChanged, "with another chart or module")
	return all
}

// facts returns facts on an application that are not fields of the object.
func facts(a diff.Application) []string {
	var all plaintext.Texts
	all = each.Map(a.Facts, func(f diff.Field) string { return "fact " + fieldLine(f) })
	all.Add(a.Deprecated != "", "deprecated: %s", a.Deprecated)
	for _, v := range a.DeprecatedVersions[:min(len(a.DeprecatedVersions), maxInline)] {
		all = append(all, cmp.Or(v.Number, v.Version)+" is deprecated: "+v.Message)
	}
	more := len(a.DeprecatedVersions) - maxInline
	all.Add(more > 0, "%s more deprecated", plaintext.Count(more, "version"))
	for _, host := range a.Unmirrored {
		all = append(all, fmt.Sprintf("no mirror covers %s: %s at %s", host.Host, host.Kind, host.Path))
	}
	all.Add(a.Unsearched != "", "default values cannot be searched for hosts: %s", a.Unsearched)
	return all
}

func valuesLine(v *diff.Values) string {
	line := fmt.Sprintf("%s: %s added, %d removed", v.Field, plaintext.Count(v.Added, "line"), v.Removed)
	if v.Omitted > 0 {
		line += fmt.Sprintf("; %s of the diff left out", plaintext.Count(v.Omitted, "line"))
	}
	return line
}

// sign returns the mark of a change for the start of a line.
func sign(change diff.Change) string {
	signs := map[diff.Change]string{diff.Added: "+", diff.Removed: "-", diff.Updated: "~", diff.Replaced: "!", diff.Unresolved: "?"}
	return cmp.Or(signs[change], " ")
}

// removalOutcome returns the number of removed definitions that Flux deletes or keeps.
func removalOutcome(s *diff.Selection) string {
	c := s.Counts
	kept := len(each.Where(s.Applications, func(a diff.Application) bool { return a.Deleted != nil && !*a.Deleted }))
	switch {
	case kept+c.Deleted == 0:
		return ""
	case kept == 0:
		return " (Flux deletes " + pronoun(c.Deleted) + ")"
	case c.Deleted == 0:
		return " (Flux keeps " + pronoun(kept) + ")"
	default:
		return fmt.Sprintf(" (Flux deletes %d, keeps %d)", c.Deleted, kept)
	}
}
