// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetString replaces the value of a string scalar and keeps its quotes.
func (d *Document) SetString(node *yaml.Node, value string) {
	start, ok := d.Offset(node)
	old := node.Value
	node.Value = value
	if !ok {
		d.GiveUp()
		return
	}
	rest := d.Data[start:]
	quoted := func(quote string) bool {
		return bytes.HasPrefix(rest, []byte(quote+old+quote)) && !strings.ContainsAny(old+value, quote+`\`+"\n")
	}
	switch {
	case node.Style&yaml.DoubleQuotedStyle != 0 && quoted(`"`), node.Style&yaml.SingleQuotedStyle != 0 && quoted(`'`):
		d.Splice(start+1, start+1+len(old), value)
	case node.Style&^yaml.FlowStyle == 0 && old != "" && bytes.HasPrefix(rest, []byte(old)):
		d.Splice(start, start+len(old), value)
	default:
		d.GiveUp()
	}
}

// SetBlock makes the value at a key a literal block scalar, which is not empty.
func (d *Document) SetBlock(mapping *yaml.Node, i int, content string) {
	start, indent, last, ok := d.entry(mapping, i)
	key, old := mapping.Content[i], mapping.Content[i+1]
	mapping.Content[i+1] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: content, Style: yaml.LiteralStyle}
	name := Quoted(key, key.Value)
	if !ok || old.Anchor != "" || !bytes.HasPrefix(d.Data[start:], []byte(name+":")) {
		mapping.Content[i+1].Anchor = old.Anchor
		d.GiveUp()
		return
	}
	inner, comment := indent+2, old.LineComment
	if at, ok := d.Offset(old); ok && old.Style&yaml.LiteralStyle != 0 && old.Line == key.Line {
		header := string(d.Data[at:d.LineEnd(old.Line-1)])
		if hash := strings.IndexByte(header, '#'); hash > 0 {
			header, comment = header[:hash], header[hash:]
		}
		inner = d.blockIndent(old.Line, last, inner)
		if strings.Contains(header, "+") {
			for last+1 < len(d.lines) && isBlank(d.Line(last+1)) && d.lines[last+1] < len(d.Data) {
				last++
			}
		}
	}
	if comment != "" {
		comment = " " + comment
	}
	d.Splice(start, d.LineEnd(last), name+": "+blockHeader(content, inner-indent)+comment+"\n"+Indented(content, inner))
}

// ReplaceLiteral replaces the lines of a literal block scalar, which is not empty, and keeps their indentation and the header.
func (t *Text) ReplaceLiteral(node *yaml.Node, content string) {
	indent := t.blockIndent(node.Line, len(t.lines)-1, 0)
	t.Insert(node.Line, Indented(strings.TrimRight(content, "\n"), indent)+"\n")
	t.Remove(node.Line, t.LastLine(node.Line-1, indent-1, false))
}

// Quoted returns a text, which needs no escapes, in the quotes of a scalar.
func Quoted(like *yaml.Node, text string) string {
	switch {
	case like.Style&yaml.DoubleQuotedStyle != 0:
		return `"` + text + `"`
	case like.Style&yaml.SingleQuotedStyle != 0:
		return "'" + text + "'"
	}
	return text
}

// blockIndent returns how the first line with content is indented.
func (t *Text) blockIndent(first, last, otherwise int) int {
	for i := first; i <= last; i++ {
		if spaces, content := t.Indent(i); !isBlank(content) {
			return spaces
		}
	}
	return otherwise
}

// blockHeader returns the indicators that a literal block with this content needs.
func blockHeader(content string, indent int) string {
	header := "|"
	if strings.HasPrefix(strings.TrimLeft(content, "\n"), " ") {
		header += strconv.Itoa(indent)
	}
	switch {
	case !strings.HasSuffix(content, "\n"):
		return header + "-"
	case strings.HasSuffix(content, "\n\n"):
		return header + "+"
	}
	return header
}
