// SPDX-License-Identifier: Apache-2.0

// Package splice edits the text of a document, whose other bytes stay. It must not know what the document means: the
// caller checks that the result is the wanted one.
package splice

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// CutList returns a document without elements of a list at its top: of each what is between the commas, or its
// lines with the comments directly above them. The result is nil where that is not possible, and is compared with
// what is wanted in any case.
func CutList(document []byte, isJSON bool, key string, count int, keep func(int) bool) []byte {
	value, list := topValue(document, isJSON, key)
	switch {
	case value < 0, list != nil && len(list.Content) != count: // as with an alias
		return nil
	case list == nil || list.Style&yaml.FlowStyle != 0:
		return cutFlow(document, value, count, keep)
	}
	return cutBlock(document, list, keep)
}

// SetText returns a document with another text as the value of a key at its top, nil where that is not possible.
func SetText(document []byte, isJSON bool, key, text string) []byte {
	start, value := topValue(document, isJSON, key)
	if start < 0 {
		return nil
	}
	end := start
	if quote := document[start]; quote == '"' || quote == '\'' {
		end = skippedEnd(document, start) + 1
	} else if value != nil && bytes.HasPrefix(document[start:], []byte(value.Value)) {
		end += len(value.Value)
	}
	quoted, err := json.Marshal(text)
	if err != nil || end <= start {
		return nil
	}
	return slices.Concat(document[:start], quoted, document[end:])
}

// topValue returns the offset of the value of a key at the top of a document, -1 without one, and its node if the
// document is YAML.
func topValue(document []byte, isJSON bool, key string) (int, *yaml.Node) {
	if isJSON {
		top, err := jsontext.Scan(document)
		for _, one := range top.Members {
			if err == nil && top.Plain && jsontext.Folded(string(one.Key)) == jsontext.Folded(`"`+key+`"`) {
				return one.Start, nil
			}
		}
		return -1, nil
	}
	root, err := yamlnode.First(document)
	if err != nil || root == nil || root.Kind != yaml.MappingNode {
		return -1, nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if jsontext.Folded(root.Content[i].Value) == jsontext.Folded(key) {
			if at, ok := yamledit.NewText(document).Offset(root.Content[i+1]); ok && at < len(document) {
				return at, root.Content[i+1]
			}
			break
		}
	}
	return -1, nil
}

// cutBlock cuts the lines of elements out of a list whose elements begin with a dash.
func cutBlock(data []byte, list *yaml.Node, keep func(int) bool) []byte {
	b := blockCut{elements: len(list.Content), indent: list.Column - 1, keep: keep, at: -1, kept: make([]byte, 0, len(data))}
	number := 0
	for line := range bytes.Lines(data) {
		if number++; number < list.Line {
			b.kept = append(b.kept, line...)
			continue
		}
		b.line(line)
	}
	b.flush(false, false)
	return b.kept
}

// blockCut goes through the lines of a list and what is behind it.
type blockCut struct {
	elements, indent int
	keep             func(int) bool
	// at is the element of the line, and drop reports whether it goes.
	at   int
	drop bool
	// waiting are lines without content, which the next line with some tells where they belong.
	waiting, comments [][]byte
	kept              []byte
}

func (b *blockCut) line(line []byte) {
	content := bytes.TrimLeft(line, " ")
	spaces, isBlank := len(line)-len(content), len(bytes.TrimSpace(content)) == 0
	switch {
	case b.at == b.elements:
	case isBlank && len(b.comments) == 0:
		b.waiting = append(b.waiting, line)
		return
	case isBlank, content[0] == '#' && spaces <= b.indent:
		b.comments = append(b.comments, line)
		return
	case spaces == b.indent && content[0] == '-':
		b.at++
		next := b.at >= b.elements || !b.keep(b.at)
		b.flush(b.drop, next)
		b.drop = next
	case spaces <= b.indent:
		b.flush(false, false)
		b.at, b.drop = b.elements, false
	default:
		b.flush(b.drop, b.drop)
	}
	if !b.drop {
		b.kept = append(b.kept, line...)
	}
}

// flush keeps the lines that wait, unless the element goes to which they belong: blank lines to the one before, and
// comments, from the first one on, to the next one.
func (b *blockCut) flush(dropBlank, dropComments bool) {
	if !dropBlank {
		b.kept = append(b.kept, bytes.Join(b.waiting, nil)...)
	}
	if !dropComments {
		b.kept = append(b.kept, bytes.Join(b.comments, nil)...)
	}
	b.waiting, b.comments = nil, nil
}

// cutFlow cuts elements out of a list in brackets.
func cutFlow(data []byte, at, count int, keep func(int) bool) []byte {
	pieces, end := flowPieces(data, at)
	if len(pieces) == 0 {
		return nil
	}
	last := pieces[len(pieces)-1]
	if len(pieces) == count+1 { // nothing but comments behind a comma
		pieces = pieces[:count]
	}
	if len(pieces) != count {
		return nil
	}
	var kept [][]byte
	for i, piece := range pieces {
		if keep(i) {
			kept = append(kept, piece)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	first := pieces[0]
	kept[0] = slices.Concat(first[:len(first)-len(bytes.TrimLeft(first, " \t\r\n"))], bytes.TrimLeft(kept[0], " \t\r\n"))
	blank := last[len(bytes.TrimRight(last, " \t\r\n")):]
	final := len(kept) - 1
	if bytes.IndexByte(kept[final], '#') < 0 { // a comment needs its end
		kept[final] = slices.Concat(bytes.TrimRight(kept[final], " \t\r\n"), blank)
	}
	return slices.Concat(data[:at+1], bytes.Join(kept, []byte(",")), data[end:])
}

// flowPieces returns what is between the commas of a list in brackets, and the offset of its end.
func flowPieces(data []byte, at int) (pieces [][]byte, end int) {
	if data[at] != '[' {
		return nil, 0
	}
	depth, start, before := 0, at+1, byte(' ')
	for i := at; i < len(data); i++ {
		c := data[i]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n[{,:"), before) >= 0 && bytes.IndexByte([]byte("\"'#"), c) >= 0:
			if i = skippedEnd(data, i); i < 0 {
				return nil, 0
			}
		case c == '[' || c == '{':
			depth++
		case c == ',' && depth == 1:
			pieces, start = append(pieces, data[start:i:i]), i+1
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return append(pieces, data[start:i:i]), i
			}
		}
		before = c
	}
	return nil, 0
}

// skippedEnd returns the offset of the last byte of a text in quotes, or of a comment, -1 without an end.
func skippedEnd(data []byte, at int) int {
	if data[at] == '#' {
		if end := bytes.IndexByte(data[at:], '\n'); end >= 0 {
			return at + end
		}
		return -1
	}
	for i := at + 1; i < len(data); i++ {
		switch {
		case data[i] == '\\' && data[at] == '"':
			i++
		case data[i] != data[at]:
		case data[at] == '\'' && i+1 < len(data) && data[i+1] == '\'':
			i++
		default:
			return i
		}
	}
	return -1
}
