// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// headline returns the number of changes of a selection of the report, or the reason why there are none.
func headline(report *diff.Report, s *diff.Selection) string {
	switch {
	case s.Error != "":
		return "not compared: " + s.Error
	case len(s.Unknown) > 0:
		return "not compared"
	case s.Change == diff.Removed:
		return "the selection is removed"
	}
	var parts plaintext.Texts
	parts.Add(s.Change == diff.Added, "a new selection")
	for _, counted := range [][]string{applicationCounts(s), versionCounts(s.Counts), factCounts(s), servedCounts(s.Served), instanceCounts(s.Instances), chartCounts(s.Charts)} {
		if len(counted) > 0 {
			parts = append(parts, strings.Join(counted, ", "))
		}
	}
	switch {
	case len(parts) > 0:
	case s.Promotion != nil && s.Change != diff.Unchanged:
		parts = append(parts, "no application changes, but other objects of the artifact do")
	default:
		parts = append(parts, unchanged(report))
	}
	if s.Everything || s.Promotion != nil {
		return fmt.Sprintf("%s (%s)", strings.Join(parts, "; "), plaintext.Count(s.To.Available, "application"))
	}
	if s.To == nil {
		return strings.Join(parts, "; ")
	}
	return fmt.Sprintf("%s (%d of %s selected)", strings.Join(parts, "; "), s.To.Selected, plaintext.Count(s.To.Available, "application"))
}
