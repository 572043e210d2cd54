// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"bytes"
	"fmt"
)

// position is where something is in the input.
type position struct {
	file string
	// document and item count from 1. They are 0 where there is only one.
	document, item int
	// before is the number of lines in the file before the document, if exact.
	before int
	// exact reports whether the lines of the definition are those of the input.
	exact bool
}

func (p position) String() string {
	text := p.file
	if p.document > 0 {
		text += fmt.Sprintf(": document %d", p.document)
	}
	if p.item > 0 {
		text += fmt.Sprintf(": item %d", p.item)
	}
	return text
}

// line returns "line N: " for a line of the document, empty where it is not known.
func (p position) line(n int) string {
	if n == 0 || !p.exact {
		return ""
	}
	return fmt.Sprintf("line %d: ", p.before+n)
}

// document is a YAML document of a file, with the comments above it.
type document struct {
	text []byte
	// before is the number of lines before it.
	before int
}

// split cuts a file at the lines that begin or end documents. It leaves out parts that have nothing but directives, such as
// %YAML, and comments, except for comments before a document, such as a licence, which it keeps.
func split(content []byte) []document {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	var documents []document
	cutter := cutter{content: content}
	for line := range bytes.Lines(content) {
		marker := isMarker(line, "---") || isMarker(line, "...")
		if marker {
			documents = cutter.cut(documents)
		}
		cutter.next(line, marker)
	}
	return cutter.cut(documents)
}

// cutter goes through the lines of a file.
type cutter struct {
	content []byte
	// start and end are the offsets of the current part, and before the lines above it.
	start, end, before, lines int
	// filled reports whether the part has a line that is no comment and no directive, and commented whether it has one.
	filled, commented bool
}

// cut ends the current part. Comments alone stay, to become a part of the next document.
func (c *cutter) cut(documents []document) []document {
	switch {
	case c.filled:
		documents = append(documents, document{text: c.content[c.start:c.end], before: c.before})
	case c.commented:
		return documents
	}
	c.start, c.before, c.filled, c.commented = c.end, c.lines, false, false
	return documents
}

func (c *cutter) next(line []byte, marker bool) {
	text := bytes.TrimSpace(line)
	c.end += len(line)
	c.lines++
	if marker {
		if text = bytes.TrimSpace(text[3:]); len(text) == 0 && !c.commented {
			c.start, c.before = c.end, c.lines
		} else if !c.commented {
			c.start = c.end - len(bytes.TrimLeft(line[3:], " \t"))
		}
	}
	switch {
	case len(text) == 0:
	case line[0] == '%' && !c.filled: // a directive, which catalogs refuse
	case text[0] == '#':
		c.commented = true
	default:
		c.filled = true
	}
}

// isMarker reports whether a line is a marker, which a space may follow.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
