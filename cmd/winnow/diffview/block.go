// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// wording is a text as a terminal and a comment show it, empty where it is not shown.
type wording struct{ terminal, comment string }

func same(text string) wording { return wording{text, text} }

func bold(text string) wording { return wording{text, "**" + text + "**"} }

// entry is an item of a list.
type entry struct {
	label wording
	// names of what the text applies to; empty if the text has them.
	names []string
	text  string
	// bare entries are no text of a catalog: a comment shows them as they are.
	bare  bool
	below []entry
}

// snippet is YAML with the sentence before it.
type snippet struct {
	intro wording
	text  string
}

// block is a part of a selection. Blank lines separate blocks, and within a comment their parts, too.
type block struct {
	title wording
	// indent of the list on a terminal.
	indent string
	list   []entry
	// whole lists are not cut in a comment.
	whole     bool
	values    *diff.Values
	snippets  []snippet
	sentences []wording
}

// listing returns a block for its list, and an empty one if that has no entries.
func listing(b block) block {
	if len(b.list) == 0 {
		return block{}
	}
	return b
}

// terminal returns the block for a terminal, empty without a content.
func (b block) terminal() string {
	var w strings.Builder
	if b.title.terminal != "" {
		fmt.Fprintln(&w, plaintext.Wrap(b.title.terminal, ""))
	}
	writeTerminal(&w, b.list, b.indent)
	if b.values != nil {
		fmt.Fprintf(&w, "    %s\n", valuesLine(b.values))
		for line := range strings.Lines(b.values.Diff) {
			fmt.Fprintln(&w, strings.TrimRight("      "+plaintext.Printable(line), " "))
		}
	}
	for _, s := range b.snippets {
		fmt.Fprintln(&w, s.intro.terminal)
		for line := range strings.Lines(s.text) {
			fmt.Fprintln(&w, "  "+plaintext.Printable(line))
		}
	}
	for _, s := range b.sentences {
		if s.terminal != "" {
			fmt.Fprintln(&w, plaintext.Wrap(s.terminal, ""))
		}
	}
	return w.String()
}

func writeTerminal(w *strings.Builder, list []entry, indent string) {
	for _, e := range list {
		text := e.text
		switch {
		case len(e.names) > maxInline:
			text = fmt.Sprintf("%s %s: %s", plaintext.Count(len(e.names), "application"), text, strings.Join(e.names, ", "))
		case len(e.names) > 0:
			text = strings.Join(e.names, ", ") + ": " + text
		}
		fmt.Fprintln(w, plaintext.Wrap(e.label.terminal+text, indent))
		writeTerminal(w, e.below, indent+"    ")
	}
}

// comment returns the parts of the block for a comment.
func (b block) comment() []string {
	var parts []string
	list := b.list
	if !b.whole {
		list = firstEntries(list, maxReasons, 0, "")
	}
	head := commentList(list, "")
	if b.title.comment != "" {
		head = b.title.comment + "\n" + head // no blank line: a list ends a paragraph
	}
	if head != "" {
		parts = append(parts, head)
	}
	if b.values != nil {
		shown := *b.values
		shown.Cut(maxDiffText)
		parts = append(parts, code(valuesLine(&shown))+"\n")
		if shown.Diff != "" {
			parts = append(parts, fence("diff", shown.Diff))
		}
	}
	for _, s := range b.snippets {
		if s.intro.comment != "" {
			parts = append(parts, s.intro.comment+"\n"+fence("yaml", s.text))
		}
	}
	for _, s := range b.sentences {
		if s.comment != "" {
			parts = append(parts, s.comment+"\n")
		}
	}
	return parts
}

func commentList(list []entry, indent string) string {
	var w strings.Builder
	for _, e := range list {
		text := e.text
		if !e.bare {
			text = code(text)
		}
		if len(e.names) > 0 {
			text = codes(e.names) + ": " + text
		}
		fmt.Fprintf(&w, "%s- %s%s\n%s", indent, e.label.comment, text, commentList(e.below, indent+"  "))
	}
	return w.String()
}

// firstEntries returns the first entries, and one with the number of the others.
func firstEntries(all []entry, most, omitted int, things string) []entry {
	return excerpt.First(all, most, omitted, func(more int) entry { return entry{text: excerpt.More(more) + things, bare: true} })
}

// entriesOf returns an entry for each text.
func entriesOf(texts []string) []entry {
	return each.Map(texts, func(text string) entry { return entry{text: text} })
}

// fieldEntries returns an entry for each field, and one with the number of omitted fields.
func fieldEntries(label wording, fields []diff.Field, omitted int) []entry {
	list := each.Map(fields, func(f diff.Field) entry { return entry{label: label, text: fieldLine(f)} })
	return firstEntries(list, len(list), omitted, " fields")
}
