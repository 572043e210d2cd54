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

// Scalar returns lines, one or more, as a value behind a key: one as a plain scalar, or in quotes where a reader needs them, and
// several as a literal block with an indentation.
func Scalar(lines []string, indent int) string {
	if len(lines) > 1 {
		return "|" + Block(lines, indent)
	}
	written, _ := yaml.Marshal(NewString(lines[0]))
	return strings.TrimSuffix(string(written), "\n")
}

// Block returns lines with an indentation, each behind a line break.
func Block(lines []string, indent int) string {
	start := "\n" + strings.Repeat(" ", indent)
	return start + strings.Join(lines, start)
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

// InBrackets returns a text as a scalar in brackets or braces, in quotes where a reader needs them: more often than in a block.
func InBrackets(text string) string {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Content: []*yaml.Node{NewString(text)}}
	written, _ := yaml.Marshal(list)
	return strings.TrimSuffix(strings.TrimPrefix(string(written), "["), "]\n")
}

// Like returns a text, which is a scalar as it is in the place of another one, in the quotes of that one, unless it needs quotes
// of its own.
func Like(other *yaml.Node, scalar string) string {
	if strings.ContainsAny(scalar, `'"\`) {
		return scalar
	}
	return Quoted(other, scalar)
}

// Replace records that text takes the place of a scalar on one line, plain or in quotes; not ok for one that is written otherwise.
func (t *Text) Replace(scalar *yaml.Node, text string) (ok bool) {
	old := Quoted(scalar, scalar.Value)
	at, ok := t.Starts(scalar, old)
	if ok {
		t.Splice(at, at+len(old), text)
	}
	return ok
}

// ScalarEnd returns the offset behind a scalar in quotes, or on one line; not ok for others.
func (t *Text) ScalarEnd(node *yaml.Node) (end int, ok bool) {
	if node.Kind != yaml.ScalarNode || node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0, false
	}
	quotes := Quoted(node, "")
	if quotes == "" {
		at, ok := t.Starts(node, node.Value)
		return at + len(node.Value), ok
	}
	quote := quotes[:1]
	at, ok := t.Starts(node, quote)
	for at++; ok && at < len(t.Data); at++ {
		switch {
		case quote == `"` && t.Data[at] == '\\', bytes.HasPrefix(t.Data[at:], []byte("''")) && quote == "'":
			at++
		case t.Data[at] == quote[0]:
			return at + 1, true
		}
	}
	return 0, false
}
