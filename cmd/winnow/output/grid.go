// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/each"
)

// Grid is a table of text, which may come from a catalog and is not trusted. A row has a cell for each header.
type Grid struct {
	Header []string
	Rows   [][]string
}

// CutLast cuts the last cells so that a line has the width, but for at least some characters of the cell. A width of 0 cuts none.
func (g Grid) CutLast(width, least int) {
	if width == 0 {
		return
	}
	last, left := len(g.Header)-1, width
	for _, widest := range g.widths()[:last] {
		left -= widest + 2
	}
	for _, row := range g.Rows {
		row[last] = plaintext.Brief(row[last], max(left, least))
	}
}

func (g Grid) lines() [][]string { return append([][]string{g.Header}, g.Rows...) }

// widths returns the width of the widest cell of each column.
func (g Grid) widths() []int {
	widths := make([]int, len(g.Header))
	for _, line := range g.lines() {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(plaintext.Line(cell)))
		}
	}
	return widths
}

// Print writes the grid in columns, two spaces apart.
func (g Grid) Print(w io.Writer) {
	widths := g.widths()
	for _, line := range g.lines() {
		var text strings.Builder
		for i, cell := range line {
			fmt.Fprintf(&text, "%-*s  ", widths[i], plaintext.Line(cell))
		}
		fmt.Fprintln(w, strings.TrimRight(text.String(), " "))
	}
}

// Markdown writes the grid as a table of GitHub's Markdown.
func (g Grid) Markdown(w io.Writer) {
	rule := slices.Repeat([]string{"---"}, len(g.Header))
	for _, line := range append([][]string{g.Header, rule}, g.Rows...) {
		cells := each.Map(line, EscapeMarkdown)
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

// EscapeMarkdown keeps the text of a catalog from becoming markup, in a table or elsewhere.
func EscapeMarkdown(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "@", "&#64;").
		Replace(plaintext.Line(text))
}

// OrDash returns a text, or a dash for one without visible characters.
func OrDash(text string) string {
	if plaintext.Line(text) == "" {
		return "-"
	}
	return text
}

// PrintFacts prints lines of a label and a text, which come in pairs, without empty texts.
func PrintFacts(w io.Writer, indent string, pairs ...string) {
	for pair := range slices.Chunk(pairs, 2) {
		if plaintext.Line(pair[1]) != "" {
			fmt.Fprintln(w, plaintext.Wrap(pair[0]+": "+pair[1], indent))
		}
	}
}
