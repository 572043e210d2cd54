// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Text is a text of YAML. An edit changes no other byte. Lines are counted from 0.
type Text struct {
	Data  []byte
	lines []int // offset of each line's first byte
	// marks has, by line, the offset of every character whose column is a multiple of stride; as far
	// as the caller asked.
	marks map[int][]int
	edits []edit
}

// edit replaces data[start:end].
type edit struct {
	start, end int
	text       string
}

// NewText returns a text without edits.
func NewText(data []byte) *Text { return &Text{Data: data, lines: yamlnode.LineOffsets(data)} }

// Splice records that text, with the line breaks that the first line has, takes the place of Data[start:end].
func (t *Text) Splice(start, end int, text string) {
	if first := bytes.IndexByte(t.Data, '\n'); first > 0 && t.Data[first-1] == '\r' {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	t.edits = append(t.edits, edit{start: start, end: end, text: text})
}

// Edited returns the text with the edits, not ok when they overlap.
func (t *Text) Edited() (_ []byte, ok bool) {
	slices.SortStableFunc(t.edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range t.edits {
		if e.start < at || e.end < e.start || e.end > len(t.Data) {
			return nil, false
		}
		out = append(out, t.Data[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, t.Data[at:]...), true
}

// Insert inserts lines, each with its line break, in front of a line, or behind a last line without a line break.
func (t *Text) Insert(line int, lines string) {
	if line >= len(t.lines) {
		t.Splice(len(t.Data), len(t.Data), "\n"+lines)
		return
	}
	t.Splice(t.lines[line], t.lines[line], lines)
}

// Append adds text to the end of a line, before its line break; not ok outside of the text.
func (t *Text) Append(line int, text string) (ok bool) {
	if ok = line >= 0 && line < len(t.lines); ok {
		t.Splice(t.LineEnd(line), t.LineEnd(line), text)
	}
	return ok
}

// Remove removes the lines of the text from the first to the last one.
func (t *Text) Remove(first, last int) {
	end := len(t.Data)
	if last+1 < len(t.lines) {
		end = t.lines[last+1]
	}
	if first < len(t.lines) {
		t.Splice(t.lines[first], end, "")
	}
}

// Line returns a line without its line break; none outside of the text.
func (t *Text) Line(i int) []byte {
	if i < 0 || i >= len(t.lines) {
		return nil
	}
	return yamlnode.Line(t.Data, t.lines, i)
}

// LineEnd returns the offset behind the last byte of a line, before its line break.
func (t *Text) LineEnd(i int) int { return t.lines[i] + len(t.Line(i)) }

// Indent returns the number of spaces that a line starts with, and what follows them.
func (t *Text) Indent(i int) (int, []byte) {
	line := t.Line(i)
	content := bytes.TrimLeft(line, " ")
	return len(line) - len(content), content
}

func isBlank(content []byte) bool { return len(bytes.TrimSpace(content)) == 0 }

func isComment(content []byte) bool { return len(content) > 0 && content[0] == '#' }

func isDash(content []byte) bool {
	return len(content) > 0 && content[0] == '-' && (len(content) == 1 || content[1] == ' ')
}

// LastLine returns the last line of what starts in the line first at the given
// indentation. What is indented deeper belongs to it, comments too. Blank lines and other
// comments belong to it when something of it follows; so do the dashes of a list that is the
// value of a key.
func (t *Text) LastLine(first, indent int, dashes bool) int {
	last := first
	for i := first + 1; i < len(t.lines); i++ {
		spaces, content := t.Indent(i)
		switch {
		case isBlank(content):
		case spaces > indent, dashes && spaces == indent && isDash(content):
			last = i
		case isComment(content):
		default:
			return last
		}
	}
	return last
}

// stride is the number of characters between the marks of a line.
const stride = 256

// Offset returns where a node starts, not ok outside of the text; the parser counts columns in characters. A line may be
// the whole document, and have all of its nodes, so that it is gone through once.
func (t *Text) Offset(node *yaml.Node) (_ int, ok bool) {
	if node.Line < 1 || node.Line > len(t.lines) || node.Column < 1 {
		return 0, false
	}
	line, column := node.Line-1, node.Column-1
	if column < stride {
		at := t.skip(t.lines[line], column)
		return at, at <= len(t.Data)
	}
	marks := t.marks[line]
	if marks == nil {
		marks = []int{t.lines[line]}
	}
	for len(marks) <= column/stride {
		marks = append(marks, t.skip(marks[len(marks)-1], stride))
	}
	if t.marks == nil {
		t.marks = map[int][]int{}
	}
	t.marks[line] = marks
	at := t.skip(marks[column/stride], column%stride)
	return at, at <= len(t.Data)
}

// skip returns the offset that many characters behind at.
func (t *Text) skip(at, characters int) int {
	for range characters {
		_, size := utf8.DecodeRune(t.Data[at:])
		at += size
	}
	return at
}

// Starts reports whether the text has a prefix at a node, and where.
func (t *Text) Starts(node *yaml.Node, prefix string) (at int, ok bool) {
	at, ok = t.Offset(node)
	return at, ok && bytes.HasPrefix(t.Data[at:], []byte(prefix))
}
