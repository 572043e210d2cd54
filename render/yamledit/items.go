// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// ListEnd returns where a list goes on, not ok unless it is written with dashes.
func (d *Document) ListEnd(list *yaml.Node) Insertion {
	if !IsBlock(list) || d.Whole {
		return Insertion{}
	}
	indent := list.Column - 1
	first, ok := d.dash(list.Content[len(list.Content)-1], indent)
	return Insertion{At: d.LineEnd(d.LastLine(first, indent, false)), Indent: indent, OK: ok}
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
	return Indented(string(encoded), indent), err == nil
}

// written returns the lines of an item of a list with this indentation, and the comments directly above, with more
// spaces in front or fewer.
func (d *Document) written(item *yaml.Node, indent, by int) (string, bool) {
	first, ok := d.dash(item, indent)
	if !ok {
		return "", false
	}
	return d.moved(d.comments(first, indent), d.LastLine(first, indent, false), by)
}

// moved returns lines with more spaces in front, or with fewer, not ok if one has less. Blank lines stay blank.
func (d *Document) moved(first, last, by int) (string, bool) {
	var lines []string
	for i := first; i <= last; i++ {
		spaces, content := d.Indent(i)
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
