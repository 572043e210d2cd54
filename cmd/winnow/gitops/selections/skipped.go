// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff"
)

// skipped reports the documents that are left out: as unknown if the commits differ.
func (c *comparison) skipped(report *diff.Report) {
	noted := map[string]bool{}
	has := func(all []documents.Skipped, document documents.Skipped) bool {
		return slices.ContainsFunc(all, func(s documents.Skipped) bool { return s.Content == document.Content })
	}
	for _, document := range c.head.Skipped {
		if has(c.base.Skipped, document) {
			report.Notes = append(report.Notes, document.Note(""))
			continue
		}
		noted[document.File] = true
		report.Unknown = append(report.Unknown, document.Note(", and differs"))
	}
	for _, document := range c.base.Skipped {
		if !noted[document.File] && !has(c.head.Skipped, document) {
			report.Unknown = append(report.Unknown, beforePrefix+document.Note(""))
		}
	}
}
