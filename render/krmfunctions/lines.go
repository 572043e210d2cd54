// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// lines are those of a text, counted from 0.
type lines struct {
	text    []byte
	offsets []int
}

func newLines(text []byte) lines { return lines{text, yamlnode.LineOffsets(text)} }

// indent returns the number of spaces that a line begins with, and what follows them.
func (l lines) indent(line int) (int, []byte) {
	whole := yamlnode.Line(l.text, l.offsets, line)
	content := bytes.TrimLeft(whole, " ")
	return len(whole) - len(content), bytes.TrimSpace(content)
}

// item returns the first and the last line of an element of a list in block style, including the comments before it. ok
// is false if the element shares a line with another node. In unusual YAML the lines may be wrong: callers check the
// result.
func (l lines) item(list *yaml.Node, index int) (first, last int, ok bool) {
	if list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || list.Line == 0 {
		return 0, 0, false
	}
	at := list.Column - 1
	first = list.Content[index].Line - 1
	for ; ; first-- {
		if first < 0 || first >= len(l.offsets) {
			return 0, 0, false
		}
		indent, content := l.indent(first)
		if indent == at && isDash(content) {
			break
		}
		if indent < at && len(content) > 0 {
			return 0, 0, false
		}
	}
	last = l.lastOf(first, at)
	for ; first > 0; first-- {
		if indent, content := l.indent(first - 1); indent != at || !isComment(content) {
			break
		}
	}
	return first, last, true
}

// lastOf returns the last line of what begins in a line with the indentation. Blank lines and comments belong to it if
// something of it follows.
func (l lines) lastOf(first, at int) int {
	last := first
	for i := first + 1; i < len(l.offsets); i++ {
		indent, content := l.indent(i)
		switch {
		case len(content) == 0:
		case indent > at:
			last = i
		case !isComment(content):
			return last
		}
	}
	return last
}

// indented returns lines with more spaces before them, or fewer, and a line end.
func (l lines) indented(first, last, by int) []byte {
	var text []byte
	for i := first; i <= last; i++ {
		line := l.line(i)
		for range -by {
			line = bytes.TrimPrefix(line, []byte(" "))
		}
		if by > 0 && len(bytes.TrimSpace(line)) > 0 {
			line = append(bytes.Repeat([]byte(" "), by), line...)
		}
		text = append(text, line...)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return text
}

// line returns a line with its end.
func (l lines) line(i int) []byte {
	if i+1 < len(l.offsets) {
		return l.text[l.offsets[i]:l.offsets[i+1]]
	}
	return l.text[l.offsets[i]:]
}

// without returns the text without lines.
func (l lines) without(first, last int) []byte {
	end := len(l.text)
	if last+1 < len(l.offsets) {
		end = l.offsets[last+1]
	}
	return append(bytes.Clone(l.text[:l.offsets[first]]), l.text[end:]...)
}

func isDash(content []byte) bool {
	return len(content) > 0 && content[0] == '-' && (len(content) == 1 || content[1] == ' ')
}

func isComment(content []byte) bool { return len(content) > 0 && content[0] == '#' }
