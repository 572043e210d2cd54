// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxUses bounds the sentences on uses, and maxUsers the clusters of each.
const maxUses, maxUsers = 20, 5

// Uses returns sentences on who uses what is lost, and what is deprecated, in the order of the report.
func Uses(report *diff.Report) (sentences []string) {
	for _, group := range each.Group(report.Uses, func(u diff.Use) string { return useOf(u, "") }) {
		sentences = append(sentences, useOf(group[0], excerpt.List(group, maxInline, diff.Use.Name)))
	}
	return excerpt.First(sentences, maxUses, 0, excerpt.More)
}

// useOf returns the sentence on a use. That on an unknown one, or on what is lost and unused, is the same for several names.
func useOf(u diff.Use, names string) string {
	unknown := strings.Join(u.Unknown, ", ")
	var text string
	switch {
	case u.Installations > 0:
		first := u.Clusters[:min(len(u.Clusters), maxUsers)]
		text = fmt.Sprintf("%s %s of %s: %s", having(u.Users), plaintext.Count(u.Installations, "installation"), u.Name(),
			strings.Join(excerpt.First(first, maxUsers, u.Users-len(first), excerpt.More), ", "))
		if unknown != "" {
			text += "; " + unknown
		}
	case unknown != "":
		text = names + ": no use known: " + unknown
	default:
		text = fmt.Sprintf("%s: unused in %d of %[2]d clusters, by receipts since %s", names, u.Asked, u.Since.UTC().Format("2006-01-02 15:04"))
		if u.Approve != "" {
			text += ": remove it by this line: " + u.Approve
		}
	}
	if u.Deprecated != "" {
		return "deprecated: " + text
	}
	return text
}

func having(clusters int) string {
	if clusters == 1 {
		return "1 cluster has"
	}
	return fmt.Sprintf("%d clusters have", clusters)
}

// uses returns the sentences as a block.
func uses(report *diff.Report) block {
	return listing(block{title: bold("Uses by receipts, which permit nothing:"), indent: "  ", whole: true, list: entriesOf(Uses(report))})
}
