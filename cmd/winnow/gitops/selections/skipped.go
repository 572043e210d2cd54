package selections

import (
	"slices"

	"github.com/winnow-dev/winnow/render/diff"
)

// skipped reports the documents that are left out: as unknown if the commits differ.
func (c *comparison) skipped(report *diff.Report) {
	noted := map[string]bool{}
	has := func(all []skipped, document skipped) bool {
		return slices.ContainsFunc(all, func(s skipped) bool { return s.content == document.content })
	}
	for _, document := range c.head.skipped {
		if has(c.base.skipped, document) {
			report.Notes = append(report.Notes, document.note(""))
			continue
		}
		noted[document.file] = true
		report.Unknown = append(report.Unknown, document.note(", and differs"))
	}
	for _, document := range c.base.skipped {
		if !noted[document.file] && !has(c.head.skipped, document) {
			report.Unknown = append(report.Unknown, beforePrefix+document.note(""))
		}
	}
}
