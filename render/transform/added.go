package transform

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// added appends the entries of spec.versions that definitions of later sources add and that stay, with their
// bytes and comments, and in their order.
type added struct{}

func (added) concerns(in Input) bool { return len(in.Application.Merged) > 0 }

func (added) apply(in Input, doc *document, _ *Output) *Error {
	stays := set(in.Versions)
	for _, m := range in.Application.Merged {
		wanted := set(slices.DeleteFunc(slices.Clone(m.Versions), func(v string) bool { return !stays[v] }))
		if len(wanted) == 0 {
			continue
		}
		if err := doc.addVersions(m.From, wanted); err != nil {
			return &Error{Field: "spec.sources", Err: fmt.Errorf("merging versions of the source %q: %w", m.Source, err)}
		}
	}
	return nil
}

// addVersions appends the entries of another definition that have one of the versions.
func (d *document) addVersions(from *catalog.Application, wanted map[string]bool) error {
	other, err := parse(from.Document)
	if err != nil {
		return err
	}
	entries := lookup(lookup(other.content(), "spec"), "versions")
	if entries == nil || entries.Kind != yaml.SequenceNode {
		return fmt.Errorf("it has no list spec.versions")
	}
	spec := lookup(d.content(), "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return fmt.Errorf("the document has no spec")
	}
	list := d.versionList(spec)
	end := d.listEnd(list)
	var text strings.Builder
	for i, entry := range entries.Content {
		if version, ok := yamlnode.Text(lookup(entry, "version")); !ok || !wanted[version] {
			continue
		}
		lines, ok := other.item(entries, i, end.indent)
		end.ok = end.ok && ok
		text.WriteString("\n" + lines)
		list.Content = append(list.Content, clone(entry))
	}
	if end.ok {
		d.splice(end.at, end.at, text.String())
	} else {
		list.Style &^= yaml.FlowStyle
		d.giveUp()
	}
	if err := d.flush(); err != nil {
		return err
	}
	return catalog.CheckDocument(d.data)
}

// versionList returns the list spec.versions, which it adds where there is none.
func (d *document) versionList(spec *yaml.Node) *yaml.Node {
	if list := lookup(spec, "versions"); list != nil && list.Kind == yaml.SequenceNode {
		return list
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if i := index(spec, "versions"); i >= 0 {
		spec.Content[i+1] = list
	} else {
		spec.Content = append(spec.Content, newString("versions"), list)
	}
	d.giveUp()
	return list
}

// listEnd returns where a list goes on, not ok unless it is written with dashes.
func (d *document) listEnd(list *yaml.Node) place {
	if !isBlock(list) || d.whole {
		return place{}
	}
	indent := list.Column - 1
	first, ok := d.dash(list.Content[len(list.Content)-1], indent)
	return place{at: d.lineEnd(d.lastLine(first, indent, false)), indent: indent, ok: ok}
}

// dash returns the line, counted from 0, with the dash of an item of a list with this indentation.
func (d *document) dash(item *yaml.Node, indent int) (int, bool) {
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

// item returns the lines of an item of a list, with the comments directly above, for a list with another
// indentation. They are those of the document, or else are encoded from the nodes.
func (d *document) item(list *yaml.Node, i, indent int) (string, bool) {
	own := list.Column - 1
	if isBlock(list) && !d.whole {
		if lines, ok := d.written(list.Content[i], own, indent-own); ok {
			return lines, true
		}
	}
	encoded, err := yamlnode.Encode(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{clone(list.Content[i])}})
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
func (d *document) written(item *yaml.Node, indent, by int) (string, bool) {
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
func (d *document) moved(first, last, by int) (string, bool) {
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
