package main

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/lint"
)

func TestAnnotationEscapesWhatEndsACommand(t *testing.T) {
	finding := shownFinding{Finding: lint.Finding{
		Rule: "kkp/a,b", Severity: lint.Warning, Path: "a,b:c%/\n::error::x", Line: 3, Message: "50%\r\n::error::boo",
	}}
	want := "::warning file=a%2Cb%3Ac%25/%0A%3A%3Aerror%3A%3Ax,line=3,title=kkp/a%2Cb::50%25%0D%0A::error::boo"
	if got := annotation(finding); got != want {
		t.Errorf("annotation() = %q\nwant %q", got, want)
	}
}

func TestGridKeepsTextOfACatalogInItsCell(t *testing.T) {
	g := grid{header: []string{"A", "B"}, rows: [][]string{{"x\n| y\x1b[2J", "*b* <script> `c` @all"}, {"ü", ""}}}
	var table, markdown strings.Builder
	g.print(&table)
	g.markdown(&markdown)
	if want := "A          B\nx | y [2J  *b* <script> `c` @all\nü\n"; table.String() != want {
		t.Errorf("table:\n%swant\n%s", table.String(), want)
	}
	want := "| A | B |\n| --- | --- |\n| x \\| y \\[2J | \\*b\\* &lt;script> \\`c\\` &#64;all |\n| ü |  |\n"
	if markdown.String() != want {
		t.Errorf("markdown:\n%swant\n%s", markdown.String(), want)
	}
}
