// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// IsBlock reports whether a mapping or a list of a parsed document is written with an entry a line.
func IsBlock(node *yaml.Node) bool {
	return node.Style&yaml.FlowStyle == 0 && node.Line > 0 && len(node.Content) > 0
}

// entry returns the offset of a key of a block mapping, its indentation, and the last line of
// its value.
func (d *Document) entry(mapping *yaml.Node, i int) (start, indent, last int, ok bool) {
	key, value := mapping.Content[i], mapping.Content[i+1]
	start, ok = d.Offset(key)
	if !ok || !IsBlock(mapping) {
		return 0, 0, 0, false
	}
	indent = key.Column - 1
	dashes := value.Kind == yaml.SequenceNode && IsBlock(value)
	return start, indent, d.LastLine(key.Line-1, indent, dashes), true
}

// RemoveEntry removes a key of a mapping, which has another one, with its value and comments.
func (d *Document) RemoveEntry(mapping *yaml.Node, i int) {
	start, indent, last, ok := d.entry(mapping, i)
	first := mapping.Content[i].Line - 1
	mapping.Content = append(mapping.Content[:i:i], mapping.Content[i+2:]...)
	if !ok || start != d.lines[first]+indent || !d.removeLines(first, last, indent) {
		d.GiveUp()
	}
}

// RemoveItem removes an element of a list, which has another one, with its comments.
func (d *Document) RemoveItem(list *yaml.Node, i int) {
	indent, block := list.Column-1, IsBlock(list)
	first, ok := d.dash(list.Content[i], indent)
	list.Content = append(list.Content[:i:i], list.Content[i+1:]...)
	if !block || !ok || !d.removeLines(first, d.LastLine(first, indent, false), indent) {
		d.GiveUp()
	}
}

// dash returns the line with the dash of an item of a list with this indentation.
func (t *Text) dash(item *yaml.Node, indent int) (int, bool) {
	for line := item.Line - 1; line >= 0; line-- {
		spaces, content := t.Indent(line)
		if spaces == indent && isDash(content) {
			return line, true
		}
		if spaces < indent && !isBlank(content) {
			break
		}
	}
	return 0, false
}

// comments returns the first of the comments with this indentation directly above a line, or else the line.
func (t *Text) comments(first, indent int) int {
	for ; first > 0; first-- {
		if spaces, content := t.Indent(first - 1); spaces != indent || !isComment(content) {
			break
		}
	}
	return first
}

// removeLines removes lines that are indented like this, and the comments directly above them.
// Of the blank lines before and after, one side stays.
func (d *Document) removeLines(first, last, indent int) bool {
	if spaces, _ := d.Indent(first); spaces != indent {
		return false
	}
	first = d.comments(first, indent)
	if first > 0 && isBlank(d.Line(first-1)) {
		for last+1 < len(d.lines) && isBlank(d.Line(last+1)) {
			last++
		}
	}
	d.Dirty = true
	d.Text.Remove(first, last)
	return true
}

// SetValue replaces the value at a key.
func (d *Document) SetValue(mapping *yaml.Node, i int, value *yaml.Node) {
	start, indent, last, ok := d.entry(mapping, i)
	old := mapping.Content[i+1]
	if comment := old.LineComment; value.Kind == yaml.ScalarNode || value.Style&yaml.FlowStyle != 0 {
		value.LineComment = comment
	} else if comment != "" {
		mapping.Content[i].LineComment, value.LineComment = comment, ""
	}
	mapping.Content[i+1] = value
	key := *mapping.Content[i]
	key.HeadComment, key.FootComment = "", ""
	lines, err := render(&key, value, indent)
	if !ok || err != nil {
		d.GiveUp()
		return
	}
	d.Splice(start, d.LineEnd(last), strings.TrimLeft(lines, " "))
}

// Insertion is where a mapping goes on.
type Insertion struct {
	At, Indent int
	// line reports whether the entries before it need a line break.
	line, OK bool
}

// AddEntries appends keys with their values to a mapping, behind its last one.
func (d *Document) AddEntries(mapping *yaml.Node, behind Insertion, added []*yaml.Node) {
	if len(added) == 0 {
		return
	}
	mapping.Content = append(mapping.Content, added...)
	var lines []string
	for pair := range slices.Chunk(added, 2) {
		rendered, err := render(pair[0], pair[1], behind.Indent)
		behind.OK = behind.OK && err == nil
		lines = append(lines, rendered)
	}
	if !behind.OK {
		d.GiveUp()
		return
	}
	text := strings.Join(lines, "\n")
	if behind.line {
		text = "\n" + text
	} else {
		text += "\n"
	}
	d.Splice(behind.At, behind.At, text)
}

// End returns where a block mapping goes on. A document without content goes on behind its
// comments.
func (d *Document) End(mapping *yaml.Node) Insertion {
	if mapping == d.Content() && mapping.Line == 0 && !d.Whole {
		line := len(d.Data) > 0 && d.Data[len(d.Data)-1] != '\n'
		return Insertion{At: len(d.Data), line: line, OK: true}
	}
	if !IsBlock(mapping) {
		return Insertion{}
	}
	_, indent, last, ok := d.entry(mapping, len(mapping.Content)-2)
	if !ok {
		return Insertion{}
	}
	return Insertion{At: d.LineEnd(last), Indent: indent, line: true, OK: true}
}

// render returns the lines of a key and its value without a line break at their end.
func render(key, value *yaml.Node, indent int) (string, error) {
	entry := NewMapping()
	entry.Content = []*yaml.Node{key, value}
	encoded, err := yamlnode.Encode(entry)
	return Indented(string(encoded), indent), err
}

// Indented returns lines, without a line break at their end, with spaces in front of those that are not empty.
func Indented(lines string, spaces int) string {
	all := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	for i, line := range all {
		if line != "" {
			all[i] = strings.Repeat(" ", spaces) + line
		}
	}
	return strings.Join(all, "\n")
}

// Remove removes a key that is there.
func (d *Document) Remove(mapping *yaml.Node, name string) {
	if len(mapping.Content) == 2 {
		mapping.Content, mapping.Style = nil, yaml.FlowStyle
		d.GiveUp()
		return
	}
	d.RemoveEntry(mapping, Index(mapping, name))
}
