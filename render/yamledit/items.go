// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"bytes"
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
// indentation. The lines come from the document, or else are encoded from the nodes.
func (d *Document) Item(list *yaml.Node, i, indent int) (string, bool) {
	own := list.Column - 1
	if IsBlock(list) && !d.Whole {
		if first, last, ok := d.ItemLines(list, i); ok {
			lines := strings.ReplaceAll(d.Shifted(first, last, indent-own), "\r\n", "\n") // Splice adds what its document has
			return strings.TrimSuffix(lines, "\n"), true
		}
	}
	encoded, err := yamlnode.Encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{Clone(list.Content[i])}})
	return Indented(string(encoded), indent), err == nil
}

// ItemLines returns the first and the last line of an item of a list, with the comments directly above; not ok unless the list
// is written with dashes. In unusual YAML the lines may be wrong: callers check what they make of them.
func (t *Text) ItemLines(list *yaml.Node, i int) (first, last int, ok bool) {
	if list.Kind != yaml.SequenceNode || !IsBlock(list) {
		return 0, 0, false
	}
	indent := list.Column - 1
	if first, ok = t.dash(list.Content[i], indent); !ok {
		return 0, 0, false
	}
	return t.comments(first, indent), t.LastLine(first, indent, false), true
}

// Shifted returns lines, with their line breaks, with more spaces in front, or with fewer. Blank lines get none.
func (t *Text) Shifted(first, last, by int) string {
	var shifted strings.Builder
	for i := first; i <= last; i++ {
		line := t.Data[t.lines[i]:]
		if i+1 < len(t.lines) {
			line = line[:t.lines[i+1]-t.lines[i]]
		}
		content := bytes.TrimLeft(line, " ")
		if spaces := len(line) - len(content); spaces > 0 || !isBlank(content) {
			shifted.WriteString(strings.Repeat(" ", max(0, spaces+by)))
		}
		shifted.Write(content)
	}
	return shifted.String()
}
