package approvalfile

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxEntries is the number of entries that the API allows.
const maxEntries = 64

var (
	entryPattern = regexp.MustCompile(`^[a-z0-9]+:[a-f0-9]{32,128}(#[A-Za-z0-9][A-Za-z0-9._-]{0,62})?$`)
	dashPattern  = regexp.MustCompile(`^( *)(- +)`)
)

// errStyle reports a way to write YAML that Add does not edit.
var errStyle = errors.New("the selection is written with brackets as in JSON, aliases, merge keys or tags in a way that is not edited here: add the lines by hand")

// edit replaces content[start:end].
type edit struct {
	start, end int
	text       string
}

// Add returns the content with entries behind those of spec.safeguards.approve, which it creates where it is missing.
// It inserts them in the style of the file.
func (f *File) Add(entries []string) ([]byte, error) {
	for _, entry := range entries {
		if !entryPattern.MatchString(entry) {
			return nil, fmt.Errorf("%s is no entry of spec.safeguards.approve", excerpt.Quoted(entry))
		}
	}
	if n := len(f.Approved()) + len(entries); n > maxEntries {
		return nil, fmt.Errorf("spec.safeguards.approve would have %d entries, and may have %d: remove used ones, see status.usedApprovals", n, maxEntries)
	}
	e, err := f.edit(entries)
	if err != nil {
		return nil, err
	}
	edited := bytes.Join([][]byte{f.content[:e.start], []byte(e.text), f.content[e.end:]}, nil)
	if err := f.prove(edited, entries); err != nil {
		return nil, err
	}
	return edited, nil
}

// edit decides where the entries go.
func (f *File) edit(entries []string) (edit, error) {
	_, spec, ok := written(f.found.node, "spec")
	if !ok || spec.Kind != yaml.MappingNode || !isBlock(spec) {
		return edit{}, errStyle
	}
	key, safeguards, ok := written(spec, "safeguards")
	switch {
	case !ok:
		return f.atEnd(spec, f.block(spec, "safeguards", indentOf(spec), entries))
	case yamlnode.IsNull(safeguards):
		return f.fill(key, safeguards, f.block(spec, "", indentOf(spec), entries), "{approve: ["+strings.Join(entries, ", ")+"]}")
	case safeguards.Kind != yaml.MappingNode:
		return edit{}, errStyle
	}
	key, approve, ok := written(safeguards, "approve")
	switch {
	case !ok && !isBlock(safeguards):
		return f.intoBraces(safeguards, entries)
	case !ok:
		return f.atEnd(safeguards, f.block(spec, "approve", indentOf(safeguards), entries))
	case yamlnode.IsNull(approve) && isBlock(safeguards):
		return f.fill(key, approve, f.items(spec, indentOf(safeguards), entries), "["+strings.Join(entries, ", ")+"]")
	case approve.Kind != yaml.SequenceNode:
		return edit{}, errStyle
	case isBlock(approve):
		return f.behindLast(approve, entries)
	}
	return f.intoBrackets(approve, entries)
}

// written returns a key of a mapping and its value, neither merged nor behind an alias.
func written(mapping *yaml.Node, name string) (key, value *yaml.Node, ok bool) {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if key = mapping.Content[i]; key.Kind == yaml.ScalarNode && key.Value == name && !yamlnode.IsMerge(key) {
			return key, mapping.Content[i+1], true
		}
	}
	return nil, nil, false
}

func isBlock(node *yaml.Node) bool { return node.Style&yaml.FlowStyle == 0 && len(node.Content) > 0 }

// indentOf returns the number of spaces before the keys of a block mapping.
func indentOf(mapping *yaml.Node) int { return mapping.Content[0].Column - 1 }

// block returns the lines of a missing key, or of the keys in safeguards without a name, each after a line break.
func (f *File) block(spec *yaml.Node, name string, indent int, entries []string) string {
	step := 2
	if key, _, ok := written(f.found.node, "spec"); ok {
		step = max(1, indentOf(spec)+1-key.Column)
	}
	switch name {
	case "approve":
		return f.newLine(indent) + "approve:" + f.items(spec, indent, entries)
	case "safeguards":
		return f.newLine(indent) + "safeguards:" + f.block(spec, "", indent, entries)
	}
	return f.block(spec, "approve", indent+step, entries)
}

// items returns the lines of a list below a key with the indentation, indented as the first list of the spec is.
func (f *File) items(spec *yaml.Node, indent int, entries []string) string {
	for i := 0; i+1 < len(spec.Content); i += 2 {
		key, value := spec.Content[i], spec.Content[i+1]
		if value.Kind != yaml.SequenceNode || !isBlock(value) {
			continue
		}
		if dash := dashPattern.FindSubmatch(f.line(value.Content[0].Line - 1)); dash != nil {
			indent += max(0, len(dash[1])-(key.Column-1))
			break
		}
	}
	var text strings.Builder
	for _, entry := range entries {
		text.WriteString(f.newLine(indent) + "- " + entry)
	}
	return text.String()
}

// newLine returns the line break of the file, and spaces.
func (f *File) newLine(indent int) string {
	end := "\n"
	if len(f.lines) > 1 && f.lines[1] > 1 && f.content[f.lines[1]-2] == '\r' {
		end = "\r\n"
	}
	return end + strings.Repeat(" ", indent)
}

// atEnd inserts lines behind the last entry of a block mapping.
func (f *File) atEnd(mapping *yaml.Node, lines string) (edit, error) {
	last := len(mapping.Content) - 2
	return f.behind(f.lastLine(mapping.Content[last], mapping.Content[last+1]), lines)
}

// behind inserts lines behind a line, counted from 0.
func (f *File) behind(line int, lines string) (edit, error) {
	if line < 0 || line >= len(f.lines) {
		return edit{}, errStyle
	}
	at := f.lines[line] + len(f.line(line))
	return edit{at, at, lines}, nil
}

// lastLine returns the last line, counted from 0, of a key and its value in a block mapping. What is indented deeper
// belongs to it, comments too, and so do the dashes of a list.
func (f *File) lastLine(key, value *yaml.Node) int {
	last := key.Line - 1
	for i := key.Line; i < len(f.lines); i++ {
		line := f.line(i)
		content := bytes.TrimLeft(line, " ")
		spaces := len(line) - len(content)
		dash := value.Kind == yaml.SequenceNode && spaces == key.Column-1 && bytes.HasPrefix(content, []byte("-")) && !bytes.HasPrefix(content, []byte("---"))
		switch {
		case len(bytes.TrimSpace(content)) == 0:
		case spaces > key.Column-1, dash:
			last = i
		case content[0] != '#':
			return last
		}
	}
	return last
}

// fill gives a key without a value lines below it, and replaces a written null.
func (f *File) fill(key, null *yaml.Node, lines, inline string) (edit, error) {
	if null.Value == "" {
		return f.behind(key.Line-1, lines)
	}
	at, ok := f.offset(null)
	if !ok || !bytes.HasPrefix(f.content[at:], []byte(null.Value)) {
		return edit{}, errStyle
	}
	return edit{at, at + len(null.Value), inline}, nil
}

// behindLast adds elements to a block list, each as the last one is written.
func (f *File) behindLast(list *yaml.Node, entries []string) (edit, error) {
	last := list.Content[len(list.Content)-1]
	dash := dashPattern.FindSubmatch(f.line(last.Line - 1))
	if dash == nil {
		return edit{}, errStyle
	}
	var text strings.Builder
	for _, entry := range entries {
		text.WriteString(f.newLine(len(dash[1])) + string(dash[2]) + quoted(last, entry))
	}
	return f.behind(last.Line-1, text.String())
}

// intoBrackets adds elements to a list in brackets.
func (f *File) intoBrackets(list *yaml.Node, entries []string) (edit, error) {
	at, ok := f.offset(list)
	if !ok || f.content[at] != '[' {
		return edit{}, errStyle
	}
	if len(list.Content) == 0 {
		return edit{at + 1, at + 1, strings.Join(entries, ", ")}, nil
	}
	last := list.Content[len(list.Content)-1]
	before := quoted(last, last.Value)
	if at, ok = f.offset(last); !ok || !bytes.HasPrefix(f.content[at:], []byte(before)) {
		return edit{}, errStyle
	}
	at += len(before)
	var text strings.Builder
	for _, entry := range entries {
		text.WriteString(", " + quoted(last, entry))
	}
	return edit{at, at, text.String()}, nil
}

// intoBraces adds the list to safeguards in braces.
func (f *File) intoBraces(safeguards *yaml.Node, entries []string) (edit, error) {
	at, ok := f.offset(safeguards)
	if !ok || f.content[at] != '{' {
		return edit{}, errStyle
	}
	text := "approve: [" + strings.Join(entries, ", ") + "]"
	if len(safeguards.Content) > 0 {
		text += ", "
	}
	return edit{at + 1, at + 1, text}, nil
}

// quoted returns an entry in the quotes of another one.
func quoted(like *yaml.Node, entry string) string {
	switch {
	case like.Style&yaml.DoubleQuotedStyle != 0:
		return `"` + entry + `"`
	case like.Style&yaml.SingleQuotedStyle != 0:
		return "'" + entry + "'"
	}
	return entry
}

// offset returns where a node starts in the content; the parser counts columns in characters.
func (f *File) offset(node *yaml.Node) (int, bool) {
	if node.Line < 1 || node.Line > len(f.lines) {
		return 0, false
	}
	at := f.lines[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(f.content[at:])
		at += size
	}
	return at, at < len(f.content)
}
