// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// Text writes a report for a terminal. With stat, it writes a line for each application and no details.
func Text(w io.Writer, report *diff.Report, stat bool) {
	parts := terminal([]block{{title: same(verdict(report)), sentences: labelled("unknown: ", report.Unknown)}})
	for _, s := range report.Selections {
		parts = append(parts, head(s))
		parts = append(parts, terminal(selectionBlocks(s, stat))...)
	}
	parts = append(parts, terminal([]block{{sentences: labelled("note: ", report.Notes)}})...)
	fmt.Fprint(w, strings.Join(parts, "\n"))
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
	var all []wording
	for _, sentence := range sentences {
		all = append(all, wording{terminal: label + sentence})
	}
	return all
}

// head returns the headline of a selection, its revisions and its notes.
func head(s *diff.Selection) string {
	var w strings.Builder
	fmt.Fprintln(&w, plaintext.Wrap(Name(s)+": "+headline(s), ""))
	for _, side := range []struct {
		label string
		state *diff.State
	}{{"from", s.From}, {"to  ", s.To}} {
		if side.state != nil && side.state.Revision != "" {
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

// selectionBlocks returns a selection below its head, in the order of a terminal.
func selectionBlocks(s *diff.Selection, stat bool) []block {
	var blocks []block
	if s.Held != nil { // precedes the details: a reviewer decides on it
		b := approval(s)
		b.snippets = append(b.snippets, keeping(s.Held).snippets...)
		blocks = append(blocks, b)
	}
	blocks = append(append(blocks, decided(s)...), lists(s))
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
	return append(blocks, surroundings(s)...)
}

// changeBlocks returns a block for each group of changes, or with stat one with a line for each change.
func changeBlocks(all []change, stat bool) []block {
	var blocks []block
	if stat {
		var b block
		for _, c := range all {
			b.list = append(b.list, entry{text: title([]change{c})})
		}
		return []block{b}
	}
	for _, group := range grouped(all) {
		blocks = append(blocks, groupBlock(group))
	}
	return blocks
}
