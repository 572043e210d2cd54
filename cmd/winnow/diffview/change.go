// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// change is the change of an application or an instance, whose names a view shows with others of the same content.
type change struct {
	name, sign, headline string
	// noun is "instance" or "chart" of what is not an application.
	noun string
	// details are the content below the headline, public what a comment has of it.
	details, public block
}

// grouped groups the changes with the same content.
func grouped(all []change) [][]change {
	return each.Group(all, func(c change) string { return c.sign + c.headline + "\n" + c.details.terminal() })
}

func namesOf(group []change) []string {
	return each.Map(group, func(c change) string { return c.name })
}

// title returns the headline of a group, with the names, or with their number if there are many.
func title(group []change) string {
	names := strings.Join(namesOf(group), ", ")
	switch noun := group[0].noun; {
	case len(group) > maxInline:
		names = plaintext.Count(len(group), cmp.Or(noun, "application"))
	case noun != "" && len(group) == 1:
		names = noun + " " + names
	case noun != "":
		names = noun + "s " + names
	}
	return group[0].sign + " " + names + ": " + group[0].headline
}

// groupBlock returns a group with its content, for a terminal.
func groupBlock(group []change) block {
	b := group[0].details
	b.title.terminal = title(group)
	if len(group) > maxInline {
		b.list = append([]entry{{text: strings.Join(namesOf(group), ", ")}}, b.list...)
	}
	return b
}

// bySeverity sorts values by the severity of their change.
func bySeverity[T any](all []T, change func(T) diff.Change) []T {
	order := []diff.Change{diff.Removed, diff.Unresolved, diff.Updated, diff.Added, diff.Unchanged}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b T) int { return slices.Index(order, change(a)) - slices.Index(order, change(b)) })
	return sorted
}

// applicationDetails returns the content of an application. A comment has the first versions only.
func applicationDetails(a diff.Application, comment bool) block {
	b := block{indent: "    ", whole: true, values: a.Values, list: append(entriesOf(liveEffects(a)), versionEntries(a, comment)...)}
	if f := a.DefaultNamespace; f != nil {
		b.list = append(b.list, entry{label: wording{"DEFAULT NAMESPACE ", "**default namespace** "}, text: fromTo(*f)})
	}
	b.list = append(b.list, fieldEntries(wording{}, a.Fields, a.FieldsOmitted)...)
	b.list = append(b.list, schemaEntries(a.Schema)...)
	b.list = append(b.list, entriesOf(facts(a))...)
	return b
}

func versionEntries(a diff.Application, comment bool) []entry {
	if a.IsPackage() {
		return packageLines(a)
	}
	most := len(a.Versions)
	if comment {
		most = maxNames
	}
	list := each.Map(shownVersions(a, most), func(v diff.Version) entry {
		return entry{
			label: wording{comment: "version "}, text: sign(v.Change) + " " + versionLine(a, v),
			below: fieldEntries(wording{}, v.Fields, v.FieldsOmitted),
		}
	})
	if comment {
		return firstEntries(list, maxReasons, 0, " versions")
	}
	return list
}

// applicationChanges returns the changes of the applications, by severity, with headlines of that kind.
func applicationChanges(s *diff.Selection, headline func(diff.Application) string) []change {
	sorted := bySeverity(s.Applications, func(a diff.Application) diff.Change { return a.Change })
	return each.Map(sorted, func(a diff.Application) change {
		return change{name: a.Name, sign: sign(a.Change), headline: headline(a),
			details: applicationDetails(a, false), public: applicationDetails(withoutLive(a), true)}
	})
}
