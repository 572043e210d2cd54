// SPDX-License-Identifier: Apache-2.0

package output

import (
	"strings"
	"testing"
)

func TestGridKeepsTextOfACatalogInItsCell(t *testing.T) {
	g := Grid{Header: []string{"A", "B"}, Rows: [][]string{{"x\n| y\x1b[2J", "*b* <script> `c` @all"}, {"ü", ""}}}
	var table, markdown strings.Builder
	g.Print(&table)
	g.Markdown(&markdown)
	if want := "A          B\nx | y [2J  *b* <script> `c` @all\nü\n"; table.String() != want {
		t.Errorf("table:\n%swant\n%s", table.String(), want)
	}
	want := "| A | B |\n| --- | --- |\n| x \\| y \\[2J | \\*b\\* &lt;script> \\`c\\` &#64;all |\n| ü |  |\n"
	if markdown.String() != want {
		t.Errorf("markdown:\n%swant\n%s", markdown.String(), want)
	}
}
