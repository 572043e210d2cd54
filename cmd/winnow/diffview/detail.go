// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// View is how much a view for people has.
type View struct {
	// Stat leaves out the details, and Verbose adds the notes, which a terminal otherwise has the number of.
	Stat, Verbose bool
}

// detail is how much a view has of each class. A report on few clusters has all; of one on many, the first detail with
// which it has at most maxLines lines.
type detail int

// Details, from all to the least.
const (
	// full has every change.
	full detail = iota
	// brief has a line for applications with the same changes.
	brief
	// briefest has the first lines alone.
	briefest
)

const (
	maxLines = 60
	// maxClusters is the number of compared clusters up to which a report has all.
	maxClusters = 10
	// maxBriefest bounds the lists of the briefest view.
	maxBriefest = 4
)

// fitting returns the view with the most details that is short enough.
func fitting(report *diff.Report, view func(detail) string) string {
	text := view(full)
	clusters := each.Group(report.Selections, func(s *diff.Selection) string { return cmp.Or(s.Cluster, s.File) })
	if len(clusters) <= maxClusters {
		return text
	}
	for _, d := range []detail{brief, briefest} {
		if strings.Count(text, "\n") <= maxLines {
			break
		}
		text = view(d)
	}
	return text
}

// lessThan returns a sentence on where the rest is, empty for a view with all.
func (d detail) lessThan(report *diff.Report, shown func(string) string) string {
	if d == full {
		return ""
	}
	path := "PATH"
	if len(report.Selections) > 0 && report.Selections[0].Cluster != "" {
		path = report.Selections[0].Cluster
	}
	return "Shortened, because there are many clusters. All changes of one: " + shown("winnow diff --git BASE..HEAD "+path)
}

// cut returns a block with the first entries alone, if the view is the briefest.
func (d detail) cut(b block) block {
	if d == briefest && len(b.list) > maxBriefest+1 {
		b.list = firstEntries(b.list, maxBriefest, 0, "")
	}
	return b
}

// briefChanges returns a line for each group of changes with the same summary.
func briefChanges(s *diff.Selection) block {
	b := block{whole: true}
	for _, all := range [][]change{applicationChanges(s, statOf), instanceChanges(s)} {
		for _, group := range each.Group(all, func(c change) string { return c.sign + " " + c.headline }) {
			text := title(group)
			if len(group) > maxInline {
				text += ": " + strings.Join(excerpt.First(namesOf(group), maxInline, 0, func(int) string { return "..." }), ", ")
			}
			b.list = append(b.list, entry{text: text})
		}
	}
	return b
}
