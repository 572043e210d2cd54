// SPDX-License-Identifier: Apache-2.0

package approvalfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxEntries is the number of entries that the API allows.
const maxEntries = 1000

var dashPattern = regexp.MustCompile(`^( *)(- +)`)

// errStyle reports a way to write YAML that Add does not edit.
var errStyle = errors.New("the selection is written with brackets as in JSON, aliases, merge keys or tags in a way that is not edited here: add the lines by hand")

// Add returns the content of a file with entries in the selection with the name, and the line of the first of them. It
// returns the same content if it has them all.
func Add(content []byte, key types.NamespacedName, entries []string) (edited []byte, line int, err error) {
	found, err := Find(content, key)
	if err != nil {
		return nil, 0, err
	}
	missing := slices.DeleteFunc(slices.Clone(entries), func(entry string) bool { return slices.Contains(found.Approved(), entry) })
	if len(missing) == 0 {
		return content, found.lineOf(entries[0]), nil
	}
	if edited, err = found.Add(missing); err != nil {
		return nil, 0, fmt.Errorf("line %d: %w", found.Line(), err)
	}
	if found, err = Find(edited, key); err != nil {
		return nil, 0, err
	}
	return edited, found.lineOf(missing[0]), nil
}

// Add returns the content with entries appended to spec.safeguards.approve, which it creates where it is missing. It inserts
// them in the style of the file.
func (f *File) Add(entries []string) ([]byte, error) {
	for _, entry := range entries {
		if _, err := approval.Parse(entry); err != nil {
			return nil, err
		}
	}
	if n := len(f.Approved()) + len(entries); n > maxEntries {
		return nil, fmt.Errorf("spec.safeguards.approve would have %d entries, and may have %d: remove used ones, see status.approvals", n, maxEntries)
	}
	key, spec, ok := written(f.found.Node, "spec")
	if !ok || spec.Kind != yaml.MappingNode || !yamledit.IsBlock(spec) {
		return nil, errStyle
	}
	a := &addition{Text: yamledit.NewText(f.content), spec: spec, step: max(1, indentOf(spec)+1-key.Column), entries: entries}
	if !a.insert() {
		return nil, errStyle
	}
	edited, _ := a.Edited()
	list, _ := yamledit.Plain(f.items()) // Proves returns the error of the whole file
	for _, entry := range entries {
		list = append(list, entry)
	}
	proven, err := f.found.Proves(edited, f.documents, list, "spec", "safeguards", "approve")
	if err == nil && !proven {
		err = errStyle
	}
	return edited, err
}

// addition is an edit that adds entries to a selection.
type addition struct {
	*yamledit.Text

	spec *yaml.Node
	// step is how much deeper than the selection its spec is indented.
	step    int
	entries []string
}

// insert decides where the entries go. It returns false for a way to write YAML that is not edited.
func (a *addition) insert() bool {
	key, safeguards, ok := written(a.spec, "safeguards")
	switch indent := indentOf(a.spec); {
	case !ok:
		return a.atEnd(a.spec, newLine(indent)+"safeguards:"+a.approve(indent+a.step))
	case yamlnode.IsNull(safeguards):
		return a.fill(key, safeguards, a.approve(indent+a.step), "{approve: "+a.inBrackets()+"}")
	case safeguards.Kind != yaml.MappingNode:
		return false
	}
	key, approve, ok := written(safeguards, "approve")
	isBlock := yamledit.IsBlock(safeguards)
	switch {
	case !ok && !isBlock:
		return a.intoBraces(safeguards)
	case !ok:
		return a.atEnd(safeguards, a.approve(indentOf(safeguards)))
	case yamlnode.IsNull(approve) && isBlock:
		return a.fill(key, approve, a.items(indentOf(safeguards)), a.inBrackets())
	case approve.Kind != yaml.SequenceNode:
		return false
	case yamledit.IsBlock(approve):
		return a.behindLast(approve)
	}
	return a.intoBrackets(approve)
}

// written returns a key of a mapping and its value, neither merged nor behind an alias.
func written(mapping *yaml.Node, name string) (key, value *yaml.Node, ok bool) {
	i := yamledit.Index(mapping, name)
	if i < 0 {
		return nil, nil, false
	}
	return mapping.Content[i], mapping.Content[i+1], true
}

// indentOf returns the number of spaces before the keys of a block mapping.
func indentOf(mapping *yaml.Node) int { return mapping.Content[0].Column - 1 }

func newLine(indent int) string { return "\n" + strings.Repeat(" ", indent) }

func (a *addition) inBrackets() string {
	return "[" + strings.Join(each.Map(a.entries, yamledit.InBrackets), ", ") + "]"
}

func inBlock(text string) string { return yamledit.Scalar([]string{text}, 0) }

// approve returns the lines of the missing list, each after a line break.
func (a *addition) approve(indent int) string { return newLine(indent) + "approve:" + a.items(indent) }

// items returns the lines of a list below a key with the indentation, indented as the first list of the spec is.
func (a *addition) items(indent int) string {
	for pair := range slices.Chunk(a.spec.Content, 2) {
		if pair[1].Kind != yaml.SequenceNode || !yamledit.IsBlock(pair[1]) {
			continue
		}
		if dash := dashPattern.FindSubmatch(a.Line(pair[1].Content[0].Line - 1)); dash != nil {
			indent += max(0, len(dash[1])-(pair[0].Column-1))
			break
		}
	}
	return newLine(indent) + "- " + strings.Join(each.Map(a.entries, inBlock), newLine(indent)+"- ")
}

// atEnd inserts lines behind the last entry of a block mapping.
func (a *addition) atEnd(mapping *yaml.Node, lines string) bool {
	last := len(mapping.Content) - 2
	key, value := mapping.Content[last], mapping.Content[last+1]
	return a.Append(a.LastLine(key.Line-1, key.Column-1, value.Kind == yaml.SequenceNode), lines)
}

// fill gives a key without a value lines below it, and replaces a written null.
func (a *addition) fill(key, null *yaml.Node, lines, inline string) bool {
	if null.Value == "" {
		return a.Append(key.Line-1, lines)
	}
	return a.Replace(null, inline)
}

// behindLast adds elements to a block list, each as the last one is written.
func (a *addition) behindLast(list *yaml.Node) bool {
	last := list.Content[len(list.Content)-1]
	dash := dashPattern.FindSubmatch(a.Line(last.Line - 1))
	if dash == nil {
		return false
	}
	var text strings.Builder
	for _, scalar := range each.Map(a.entries, inBlock) {
		text.WriteString(newLine(len(dash[1])) + string(dash[2]) + yamledit.Like(last, scalar))
	}
	return a.Append(last.Line-1, text.String())
}

// intoBrackets adds elements to a list in brackets.
func (a *addition) intoBrackets(list *yaml.Node) bool {
	at, ok := a.Starts(list, "[")
	if !ok || len(list.Content) == 0 {
		a.Splice(at+1, at+1, strings.Join(each.Map(a.entries, yamledit.InBrackets), ", "))
		return ok
	}
	last := list.Content[len(list.Content)-1]
	end, ok := a.ScalarEnd(last)
	var text strings.Builder
	for _, scalar := range each.Map(a.entries, yamledit.InBrackets) {
		text.WriteString(", " + yamledit.Like(last, scalar))
	}
	a.Splice(end, end, text.String())
	return ok
}

// intoBraces adds the list to safeguards in braces.
func (a *addition) intoBraces(safeguards *yaml.Node) bool {
	at, ok := a.Starts(safeguards, "{")
	text := "approve: " + a.inBrackets()
	if len(safeguards.Content) > 0 {
		text += ", "
	}
	a.Splice(at+1, at+1, text)
	return ok
}
