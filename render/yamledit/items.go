package yamledit

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// ListEnd returns where a list goes on, not ok unless it is written with dashes.
func (d *Document) ListEnd(list *yaml.Node) Place {
	if !IsBlock(list) || d.Whole {
		return Place{}
	}
	indent := list.Column - 1
	first, ok := d.dash(list.Content[len(list.Content)-1], indent)
	return Place{At: d.lineEnd(d.lastLine(first, indent, false)), Indent: indent, OK: ok}
}

// dash returns the line, counted from 0, with the dash of an item of a list with this indentation.
func (d *Document) dash(item *yaml.Node, indent int) (int, bool) {
	for line := item.Line - 1; line >= 0; line-- {
		spaces, content := d.indent(line)
		if spaces == indent && isDash(content) {
			return line, true
		}
		if spaces < indent && !isBlank(content) {
			break
		}
	}
	return 0, false
}

// Item returns the lines of an item of a list, with the comments directly above, for a list with another
// indentation. They are those of the document, or else are encoded from the nodes.
func (d *Document) Item(list *yaml.Node, i, indent int) (string, bool) {
	own := list.Column - 1
	if IsBlock(list) && !d.Whole {
		if lines, ok := d.written(list.Content[i], own, indent-own); ok {
			return lines, true
		}
	}
	encoded, err := yamlnode.Encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{Clone(list.Content[i])}})
	lines := strings.Split(strings.TrimSuffix(string(encoded), "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", indent) + line
		}
	}
	return strings.Join(lines, "\n"), err == nil
}

// written returns the lines of an item of a list with this indentation, and the comments directly above, with more
// spaces in front or fewer.
func (d *Document) written(item *yaml.Node, indent, by int) (string, bool) {
	first, ok := d.dash(item, indent)
	if !ok {
		return "", false
	}
	last := d.lastLine(first, indent, false)
	for ; first > 0; first-- {
		if spaces, content := d.indent(first - 1); spaces != indent || !isComment(content) {
			break
		}
	}
	return d.moved(first, last, by)
}

// moved returns lines with more spaces in front, or with fewer, not ok if one has less. Blank lines stay blank.
func (d *Document) moved(first, last, by int) (string, bool) {
	var lines []string
	for i := first; i <= last; i++ {
		spaces, content := d.indent(i)
		switch {
		case len(content) == 0:
			lines = append(lines, strings.Repeat(" ", max(0, spaces+by)*min(1, spaces)))
		case spaces+by < 0:
			return "", false
		default:
			lines = append(lines, strings.Repeat(" ", spaces+by)+string(content))
		}
	}
	return strings.Join(lines, "\n"), true
}
