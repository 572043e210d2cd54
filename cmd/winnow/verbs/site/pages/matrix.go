// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
)

// part is a page of the matrix: browsers scroll so many cells without a hitch.
type part struct {
	Href, Text string
	Current    bool
	from, to   int
}

const (
	maxCells     = 60_000
	leastColumns = 20
)

// partsOf cuts the columns of a fleet into pages.
func partsOf(f *model.Fleet) []part {
	each := max(leastColumns, maxCells/max(1, len(f.Rows)))
	var all []part
	for from := 0; from == 0 || from < len(f.Columns); from += each {
		p := part{Href: fleetPage, from: from, to: min(from+each, len(f.Columns))}
		if from > 0 {
			p.Href = fmt.Sprintf("fleet-%d.html", len(all)+1)
		}
		p.Text = fmt.Sprintf("%d to %d", p.from+1, p.to)
		all = append(all, p)
	}
	return all
}

// header is the head of a column.
type header struct {
	*model.Column

	ID int
}

// Others counts the clusters but the first.
func (h header) Others() int { return h.Count() - 1 }

// line is a row of the matrix.
type line struct {
	Links         []rowLink
	Search        string
	Differs, Held bool
	Cells         []cell
}

// cell is what is shown of a model.Cell.
type cell struct{ Class, Text, Small, Hint string }

func linesOf(f *model.Fleet, p part, root string, files paths) []line {
	known := map[*model.Cell]cell{}
	show := func(of *model.Cell) cell {
		shown, found := known[of]
		if !found {
			shown = showCell(of)
			known[of] = shown
		}
		return shown
	}
	var differing, alike []line
	for _, row := range f.Rows {
		l := line{Links: files.linksOf(root, row), Search: strings.ToLower(row.Name), Cells: make([]cell, 0, p.to-p.from)}
		for _, of := range row.Cells[p.from:p.to] {
			l.Cells = append(l.Cells, show(of))
			l.Held = l.Held || of.State == model.StateHeld
		}
		for _, of := range row.Cells { // on all pages
			l.Differs = l.Differs || show(of) != show(row.Cells[0])
		}
		if l.Differs {
			differing = append(differing, l)
		} else {
			alike = append(alike, l)
		}
	}
	return append(differing, alike...)
}

func showCell(c *model.Cell) cell {
	const mostOfHint = 300
	switch c.State {
	case model.StateIn:
		shown := cell{Class: "in", Text: cmp.Or(c.Latest, "in"), Hint: plaintext.Brief(strings.Join(c.Versions, ", "), mostOfHint)}
		if n := len(c.Versions); n > 1 {
			shown.Small = fmt.Sprintf("+%d", n-1)
		}
		return shown
	case model.StateHeld:
		return cell{Class: "held", Text: "held", Small: c.Latest, Hint: plaintext.Brief(strings.Join(c.Held, "; "), mostOfHint)}
	case model.StateOut:
		return cell{Class: "out", Text: c.Rule[strings.LastIndexByte(c.Rule, '.')+1:], Hint: plaintext.Brief(c.Reason, mostOfHint)}
	}
	return cell{Class: "none", Text: "·"}
}
