// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"regexp"
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
	unchanged := func(report *diff.Report) *diff.Report {
		report.Same = append(report.Same, diff.Place{Cluster: "other", Name: "apps"})
		return report
	}
	for _, test := range []struct {
		name           string
		report         *diff.Report
		text, markdown string
	}{
		{"nothing", diff.New(), "no CatalogSelection changes", "No CatalogSelection changes."},
		{"something unknown alone", unknown(diff.New()), "UNKNOWN: 1 difference could not be compared", "**UNKNOWN: 1 difference could not be compared**"},
		{"something unknown, and a selection", unknown(diff.New(held)), "HELD: 1 CatalogSelection; UNKNOWN: 1 difference",
			"**HELD: 1 CatalogSelection; UNKNOWN: 1 difference**"},
		{"one selection, which has its own", diff.New(changed()), "fleet/apps: nothing changes (1 of 1 application selected)", "### `fleet/apps`"},
		{"something unknown, and a selection in which nothing changes", unknown(diff.New(changed())), "UNKNOWN: 1 difference; changed: 1 CatalogSelection", "**UNKNOWN: 1 difference; changed: 1 CatalogSelection**"},
		{"one selection that is held", diff.New(held), "HELD: 1 CatalogSelection", "**HELD: 1 CatalogSelection**"},
		{"several selections", unknown(diff.New(changed(), held, lost)), "HELD: 1 CatalogSelection; UNKNOWN: 1, and 1 other difference; changed: 1",
			"**HELD: 1 CatalogSelection; UNKNOWN: 1, and 1 other difference; changed: 1**"},
		{"one that changes, of several", unchanged(diff.New(changed())), "fleet/apps: nothing changes (1 of 1 application selected)", "### `fleet/apps`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var text, markdown strings.Builder
			Text(&text, test.report, View{})
			Markdown(&markdown, test.report, false)
			for want, got := range map[string]string{test.text: text.String(), test.markdown: markdown.String()} {
				if first, _, _ := strings.Cut(got, "\n"); first != want {
					t.Errorf("the first line is %q, want %q", first, want)
				}
				if len(test.report.Unknown) > 0 && regexp.MustCompile(`(?i)nothing changes|no CatalogSelection changes`).MatchString(got) {
					t.Errorf("it says that nothing changes: %s", got)
				}
			}
		})
	}
}

func TestAClusterInWhichSomethingChangesIsNotUnchanged(t *testing.T) {
	for cluster, want := range map[string]string{"prod": "1 CatalogSelection: nothing changes\n", "dev": "1 cluster: nothing changes\n"} {
		report := diff.New(&diff.Selection{Namespace: "fleet", Name: "apps", Cluster: "prod", Change: diff.Updated, To: &diff.State{Selected: 1, Available: 1}})
		report.Same = []diff.Place{{Cluster: cluster, Namespace: "fleet", Name: "others"}}
		var text strings.Builder
		Text(&text, report, View{})
		if !strings.Contains(text.String(), "\n"+want) {
			t.Errorf("%s: got %q", cluster, text.String())
		}
	}
}
