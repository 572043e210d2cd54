package yamledit

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// line returns a line, counted from 0, without its line break.
func (d *Document) line(i int) []byte { return yamlnode.Line(d.Data, d.lines, i) }

// lineEnd returns the offset behind the last byte of a line, before its line break.
func (d *Document) lineEnd(i int) int { return d.lines[i] + len(d.line(i)) }

// indent returns the number of spaces that a line starts with, and what follows them.
func (d *Document) indent(i int) (int, []byte) {
	line := d.line(i)
	content := bytes.TrimLeft(line, " ")
	return len(line) - len(content), content
}

func isBlank(content []byte) bool { return len(bytes.TrimSpace(content)) == 0 }

func isComment(content []byte) bool { return len(content) > 0 && content[0] == '#' }

func isDash(content []byte) bool {
	return len(content) > 0 && content[0] == '-' && (len(content) == 1 || content[1] == ' ')
}

// stride is the number of characters between the marks of a line.
const stride = 256

// offset returns where a node starts; the parser counts columns in characters. A line may be the
// whole document, and have all of its nodes, so that it is gone through once.
func (d *Document) offset(node *yaml.Node) (int, bool) {
	if node.Line < 1 || node.Line > len(d.lines) || node.Column < 1 {
		return 0, false
	}
	line, column := node.Line-1, node.Column-1
	if column < stride {
		at := d.skip(d.lines[line], column)
		return at, at <= len(d.Data)
	}
	marks := d.marks[line]
	if marks == nil {
		marks = []int{d.lines[line]}
	}
	for len(marks) <= column/stride {
		marks = append(marks, d.skip(marks[len(marks)-1], stride))
	}
	if d.marks == nil {
		d.marks = map[int][]int{}
	}
	d.marks[line] = marks
	at := d.skip(marks[column/stride], column%stride)
	return at, at <= len(d.Data)
}

// skip returns the offset that many characters behind at.
func (d *Document) skip(at, characters int) int {
	for range characters {
		_, size := utf8.DecodeRune(d.Data[at:])
		at += size
	}
	return at
}

// IsBlock reports whether a mapping or a list of a parsed document is written with an entry a line.
func IsBlock(node *yaml.Node) bool {
	return node.Style&yaml.FlowStyle == 0 && node.Line > 0 && len(node.Content) > 0
}

// lastLine returns the last line, counted from 0, of what starts in the line first at the given
// indentation. What is indented deeper belongs to it, comments too. Blank lines and other
// comments belong to it when something of it follows; so do the dashes of a list that is the
// value of a key.
func (d *Document) lastLine(first, indent int, dashes bool) int {
	last := first
	for i := first + 1; i < len(d.lines); i++ {
		spaces, content := d.indent(i)
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

// entry returns the offset of a key of a block mapping, its indentation, and the last line of
// its value.
func (d *Document) entry(mapping *yaml.Node, i int) (start, indent, last int, ok bool) {
	key, value := mapping.Content[i], mapping.Content[i+1]
	start, ok = d.offset(key)
	if !ok || !IsBlock(mapping) {
		return 0, 0, 0, false
	}
	indent = key.Column - 1
	dashes := value.Kind == yaml.SequenceNode && IsBlock(value)
	return start, indent, d.lastLine(key.Line-1, indent, dashes), true
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
	item, indent := list.Content[i], list.Column-1
	block := IsBlock(list)
	list.Content = append(list.Content[:i:i], list.Content[i+1:]...)
	for first := item.Line - 1; block && first >= 0; first-- {
		spaces, content := d.indent(first)
		if spaces < indent && !isBlank(content) {
			break
		}
		if spaces == indent && isDash(content) {
			if d.removeLines(first, d.lastLine(first, indent, false), indent) {
				return
			}
			break
		}
	}
	d.GiveUp()
}

// removeLines removes lines that are indented like this, and the comments directly above them.
// Of the blank lines before and after, one side stays.
func (d *Document) removeLines(first, last, indent int) bool {
	if spaces, _ := d.indent(first); spaces != indent {
		return false
	}
	for ; first > 0; first-- {
		if spaces, content := d.indent(first - 1); spaces != indent || !isComment(content) {
			break
		}
	}
	if first > 0 && isBlank(d.line(first-1)) {
		for last+1 < len(d.lines) && isBlank(d.line(last+1)) {
			last++
		}
	}
	end := len(d.Data)
	if last+1 < len(d.lines) {
		end = d.lines[last+1]
	}
	d.Splice(d.lines[first], end, "")
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
	d.Splice(start, d.lineEnd(last), lines)
}

// Place is where a mapping goes on.
type Place struct {
	At, Indent int
	// line says that the entries before it need a line break.
	line, OK bool
}

// AddEntries appends keys with their values to a mapping, behind its last one.
func (d *Document) AddEntries(mapping *yaml.Node, behind Place, added []*yaml.Node) {
	if len(added) == 0 {
		return
	}
	mapping.Content = append(mapping.Content, added...)
	var lines []string
	for pair := range slices.Chunk(added, 2) {
		rendered, err := render(pair[0], pair[1], behind.Indent)
		behind.OK = behind.OK && err == nil
		lines = append(lines, strings.Repeat(" ", behind.Indent)+rendered)
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
func (d *Document) End(mapping *yaml.Node) Place {
	if mapping == d.Content() && mapping.Line == 0 && !d.Whole {
		line := len(d.Data) > 0 && d.Data[len(d.Data)-1] != '\n'
		return Place{At: len(d.Data), line: line, OK: true}
	}
	if !IsBlock(mapping) {
		return Place{}
	}
	_, indent, last, ok := d.entry(mapping, len(mapping.Content)-2)
	if !ok {
		return Place{}
	}
	return Place{At: d.lineEnd(last), Indent: indent, line: true, OK: true}
}

// render returns "key: value" without a line break at its end; the first line is not indented.
func render(key, value *yaml.Node, indent int) (string, error) {
	entry := NewMapping()
	entry.Content = []*yaml.Node{key, value}
	encoded, err := yamlnode.Encode(entry)
	lines := strings.Split(strings.TrimSuffix(string(encoded), "\n"), "\n")
	for i := 1; i < len(lines); i++ {
		if lines[i] != "" {
			lines[i] = strings.Repeat(" ", indent) + lines[i]
		}
	}
	return strings.Join(lines, "\n"), err
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
