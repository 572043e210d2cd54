// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

func TestTheVerdictIsTheFirstLine(t *testing.T) {
	changed := func() *diff.Selection {
		return &diff.Selection{Namespace: "fleet", Name: "apps", Change: diff.Updated, To: &diff.State{Selected: 1, Available: 1}}
	}
	held := changed()
	held.Held = &diff.Held{}
	lost := changed()
	lost.Unknown = []string{"no such tag"}
	unknown := func(report *diff.Report) *diff.Report {
		report.Unknown = append(report.Unknown, "prod: it cannot be built")
		report.Notes = append(report.Notes, "a note")
		return report
	}
	for _, test := range []struct {
		name           string
		report         *diff.Report
		text, markdown string
	}{
		{"nothing", diff.New(), "no CatalogSelection changes", "No CatalogSelection changes."},
		{"something unknown alone", unknown(diff.New()), "UNKNOWN: 1 difference could not be compared", "**UNKNOWN: 1 difference could not be compared**"},
		{"something unknown, and a selection", unknown(diff.New(held)), "UNKNOWN: 1 difference could not be compared; CatalogSelections that differ: 1,",
			"**UNKNOWN: 1 difference could not be compared; CatalogSelections that differ: 1, HELD: 1**"},
		{"one selection, which has its own", diff.New(changed()), "fleet/apps: nothing changes (1 of 1 application selected)", "### `fleet/apps`"},
		{"several selections", diff.New(changed(), held, lost), "CatalogSelections that differ: 3, HELD: 1, not compared: 1",
			"**CatalogSelections that differ: 3, HELD: 1, not compared: 1**"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var text, markdown strings.Builder
			Text(&text, test.report, false)
			Markdown(&markdown, test.report, false)
			for want, got := range map[string]string{test.text: text.String(), test.markdown: markdown.String()} {
				if first, _, _ := strings.Cut(got, "\n"); first != want {
					t.Errorf("the first line is %q, want %q", first, want)
				}
				if len(test.report.Unknown) > 0 && strings.Contains(strings.ToLower(got), strings.ToLower(nothingChanges)) {
					t.Errorf("it says that nothing changes: %s", got)
				}
			}
		})
	}
}
