// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/diff"
)

func TestSentencesOnUses(t *testing.T) {
	since := time.Date(2026, 8, 1, 11, 50, 0, 0, time.UTC)
	use := func(version string, users, installations int, unknown ...string) diff.Use {
		u := diff.Use{Application: "argocd", Version: version, Users: users, Installations: installations, Asked: 40, Unknown: unknown, Since: &since}
		for i := range min(users, 100) {
			u.Clusters = append(u.Clusters, fmt.Sprintf("c%03d", i))
		}
		return u
	}
	deprecated := func(u diff.Use, line string) diff.Use {
		u.Deprecated, u.Approve = "old", line
		return u
	}
	const silent = "2 of 40 clusters send no receipt"
	report := diff.New()
	report.Uses = []diff.Use{
		use("1.0.0", 1, 1), use("2.0.0", 3, 5, silent), use("3.0.0", 300, 400),
		use("4.0.0", 0, 0, silent), use("5.0.0", 0, 0, silent), use("6.0.0", 0, 0), use("7.0.0", 0, 0),
		deprecated(use("8.0.0", 1, 2), ""), deprecated(use("9.0.0", 0, 0, silent), ""),
		deprecated(use("10.0.0", 0, 0), "argocd/10.0.0"), deprecated(use("11.0.0", 0, 0), "argocd/11.0.0"),
	}
	want := []string{
		"1 cluster has 1 installation of argocd 1.0.0: c000",
		"3 clusters have 5 installations of argocd 2.0.0: c000, c001, c002; " + silent,
		"300 clusters have 400 installations of argocd 3.0.0: c000, c001, c002, c003, c004, and 295 more",
		"argocd 4.0.0, argocd 5.0.0: no use known: " + silent,
		"argocd 6.0.0, argocd 7.0.0: unused in 40 of 40 clusters, by receipts since 2026-08-01 11:50",
		"deprecated: 1 cluster has 2 installations of argocd 8.0.0: c000",
		"deprecated: argocd 9.0.0: no use known: " + silent,
		"deprecated: argocd 10.0.0: unused in 40 of 40 clusters, by receipts since 2026-08-01 11:50: remove it by this line: argocd/10.0.0",
		"deprecated: argocd 11.0.0: unused in 40 of 40 clusters, by receipts since 2026-08-01 11:50: remove it by this line: argocd/11.0.0",
	}
	if got := Uses(report); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i := range 1_000 {
		report.Uses = append(report.Uses, use(fmt.Sprint(i), 1, i+1))
	}
	if got := Uses(report); len(got) != 21 || got[20] != "and 989 more" {
		t.Errorf("%d sentences, the last one: %s", len(got), got[len(got)-1])
	}
	var text, comment strings.Builder
	Text(&text, report, View{})
	Markdown(&comment, report, false)
	for _, part := range []struct{ in, want string }{
		{text.String(), "no CatalogSelection changes\n\nUses by receipts, which permit nothing:\n  1 cluster has 1 installation of argocd 1.0.0: c000\n"},
		{comment.String(), "**Uses by receipts, which permit nothing:**\n- `1 cluster has 1 installation of argocd 1.0.0: c000`\n"},
	} {
		if !strings.Contains(part.in, part.want) {
			t.Errorf("got\n%s\nwithout\n%s", part.in, part.want)
		}
	}
}
