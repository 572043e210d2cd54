// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
)

// Text writes a report for a terminal. With Stat, it writes a line for each application and no details.
func Text(w io.Writer, report *diff.Report, how View) {
	classes := report.Classified()
	fmt.Fprint(w, fitting(report, func(d detail) string { return text(report, classes, how, d) }))
}

func text(report *diff.Report, classes []diff.Class, how View, d detail) string {
	unknown := each.Map(report.Remarks(report.Unknown), func(r diff.Remark) string { return remark(r, plaintext.Line) })
	parts := terminal([]block{{title: same(verdict(report, classes)), sentences: labelled("unknown: ", unknown)}})
	parts = append(parts, terminal([]block{d.cut(uses(report))})...)
	for _, c := range classes {
		if isPlain(c) {
			parts = append(parts, plain(report, c)+"\n")
			continue
		}
		s := c.Sample()
		parts = append(parts, head(report, c, s, d))
		parts = append(parts, terminal(classBlocks(c, s, how.Stat, len(classes) == 1, d))...)
	}
	if len(classes) > 1 {
		parts = append(parts, terminal([]block{offline(classes...)})...)
	}
	last := block{title: wording{terminal: d.lessThan(report, plaintext.Line)}, sentences: labelled("note: ", notes(report, plaintext.Line))}
	if n := len(last.sentences); n > 1 && !how.Verbose {
		last.sentences = []wording{same(noted(n) + ": -v lists them")}
	}
	return strings.Join(append(parts, terminal([]block{last})...), "\n")
}

// terminal returns the blocks that have a content.
func terminal(blocks []block) []string {
	var parts []string
	for _, b := range blocks {
		if text := b.terminal(); text != "" {
			parts = append(parts, text)
		}
	}
	return parts
}

func labelled(label string, sentences []string) []wording {
	return each.Map(sentences, func(sentence string) wording { return wording{terminal: label + sentence} })
}

// head returns the headline of a class, its places, and the revisions and notes of the selections.
func head(report *diff.Report, c diff.Class, s *diff.Selection, d detail) string {
	var w strings.Builder
	fmt.Fprintln(&w, plaintext.Wrap(nameOf(c, plaintext.Line)+": "+headline(report, s), ""))
	if places := placesOf(c, plaintext.Line); places != "" {
		fmt.Fprintln(&w, plaintext.Wrap(places, "  "))
	}
	for _, side := range []struct {
		label string
		state *diff.State
	}{{"from", s.From}, {"to  ", s.To}} {
		if d == full && side.state != nil && side.state.Revision != "" {
			fmt.Fprintf(&w, "  %s %s\n", side.label, guard.Checksum(side.state.Revision))
		}
	}
	for _, note := range s.Notes {
		fmt.Fprintln(&w, plaintext.Wrap(note, "  "))
	}
	for _, sentence := range s.Unknown {
		fmt.Fprintln(&w, plaintext.Wrap("unknown: "+sentence, "  "))
	}
	return w.String()
}

// classBlocks returns a class below its head, in the order of a terminal. alone reports that it is the only one.
func classBlocks(c diff.Class, s *diff.Selection, stat, alone bool, d detail) []block {
	blocks := []block{d.cut(held(s))}
	blocks = append(blocks, each.Map(append(decided(s), changedLists(s)), d.cut)...)
	if d != full {
		blocks = append(append(blocks, d.cut(briefChanges(s))), remainder(s)...)
		return append(blocks, approval(c, s, d))
	}
	headline := applicationHeadline
	if stat {
		headline = statOf
	}
	blocks = append(blocks, changeBlocks(applicationChanges(s, headline), stat)...)
	for _, c := range served(s.Served) {
		b := block{title: wording{terminal: c.text}, indent: "    "}
		if !stat {
			b.list = c.below
		}
		blocks = append(blocks, b)
	}
	blocks = append(blocks, changeBlocks(instanceChanges(s), stat)...)
	blocks = append(blocks, changeBlocks(chartChanges(s), stat)...)
	if alone {
		blocks = append(blocks, offline(c))
	}
	return append(append(blocks, remainder(s)...), approval(c, s, d), keeping(s.Held))
}

// changeBlocks returns a block for each group of changes, or with stat one with a line for each change.
func changeBlocks(all []change, stat bool) []block {
	if stat {
		return []block{{list: each.Map(all, func(c change) entry { return entry{text: title([]change{c})} })}}
	}
	return each.Map(grouped(all), groupBlock)
}
