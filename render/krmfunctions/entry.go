// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Head is what a catalog of entries begins with. Behind it come the Entries of its functions.
const Head = "apiVersion: " + APIVersion + "\nkind: " + Kind + "\nmetadata:\n  name: functions\nspec:\n  krmFunctions:\n"

// entryIndent is the indentation of an entry below Head.
const entryIndent = 2

// wrapper is the key of a list that holds an entry alone.
const wrapper = "entry:\n"

var errEntry = errors.New("the entry of the function cannot be written")

// entryOf returns the text of an element, indented as below Head: its lines, unless these need others, or are nil. Then it is
// encoded.
func entryOf(element *yaml.Node, lines []byte) ([]byte, error) {
	want, err := yamlnode.Plain(element)
	if err != nil {
		return nil, err
	}
	if holds(lines, want) {
		return lines, nil
	}
	return encoded(element, want)
}

// listed returns the lines of an element of a list, with the comments before it; nil where it has none of its own.
func listed(text *yamledit.Text, list *yaml.Node, index int) []byte {
	first, last, ok := text.ItemLines(list, index)
	if !ok {
		return nil
	}
	return shifted(text, first, last, entryIndent-list.Column+1)
}

// shifted returns lines with more spaces in front, or with fewer, and a line break.
func shifted(text *yamledit.Text, first, last, by int) []byte {
	lines := text.Shifted(first, last, by)
	if !strings.HasSuffix(lines, "\n") {
		lines += "\n"
	}
	return []byte(lines)
}

// dashed returns the lines of a mapping in block style, of a KRMFunctionDefinition, as an element; nil where it is written in
// another way.
func dashed(text *yamledit.Text, mapping *yaml.Node) []byte {
	indent := mapping.Column - 1
	if !yamledit.IsBlock(mapping) || indent < 1 {
		return nil
	}
	if _, ok := text.Offset(mapping.Content[0]); !ok {
		return nil
	}
	first := mapping.Content[0].Line - 1
	element := shifted(text, first, text.LastLine(first, indent-1, false), entryIndent+len("- ")-indent)
	if !bytes.HasPrefix(element, bytes.Repeat([]byte(" "), entryIndent+len("- "))) {
		return nil
	}
	copy(element[entryIndent:], "- ")
	return element
}

// encoded returns an element as the text of an entry.
func encoded(element *yaml.Node, want any) ([]byte, error) {
	wrapped := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSuffix(wrapper, ":\n")},
		{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{element}},
	}}}}
	text, err := yamlnode.Encode(yamlnode.Expand(wrapped))
	if err != nil {
		return nil, err
	}
	entry, ok := bytes.CutPrefix(text, []byte(wrapper))
	if !ok || !holds(entry, want) {
		return nil, errEntry
	}
	return entry, nil
}

// holds reports whether a text is an entry with this content.
func holds(entry []byte, want any) bool {
	element, err := elementOf(entry)
	if err != nil {
		return false
	}
	got, err := yamlnode.Plain(element)
	return err == nil && reflect.DeepEqual(got, want)
}

// elementOf parses an entry.
func elementOf(entry []byte) (element *yaml.Node, err error) {
	for document, err := range yamlnode.Documents(append([]byte(wrapper), entry...)) {
		if err == nil {
			err = yamlnode.Validate(document.Content[0])
		}
		list := &yaml.Node{}
		if err == nil {
			list = yamlnode.Lookup(document.Content[0], strings.TrimSuffix(wrapper, ":\n"))
		}
		if err != nil || element != nil || list == nil || len(list.Content) != 1 {
			return nil, errors.Join(errEntry, err)
		}
		element = yamlnode.Resolve(list.Content[0])
	}
	if element == nil {
		return nil, errEntry
	}
	return element, nil
}

// Plain returns the entry in the types of yamlnode.Plain.
func (f *Function) Plain() (map[string]any, error) {
	element, err := elementOf(f.Entry)
	if err != nil {
		return nil, err
	}
	plain, err := yamlnode.Plain(element)
	if err != nil {
		return nil, err
	}
	fields, _ := plain.(map[string]any)
	return fields, nil
}

// Keep returns the function with the versions that keep reports true for.
func (f *Function) Keep(keep func(version string) bool) (*Function, error) {
	kept := *f
	kept.Versions = slices.DeleteFunc(slices.Clone(f.Versions), func(v *Version) bool { return !keep(v.Name) })
	switch {
	case len(kept.Versions) == 0:
		return nil, errors.New("no version would stay")
	case len(kept.Versions) == len(f.Versions):
		return &kept, nil
	}
	var err error
	kept.Entry, err = cut(f.Entry, keep)
	return &kept, err
}

// cut leaves versions out of an entry, with the comments before them.
func cut(entry []byte, keep func(string) bool) ([]byte, error) {
	element, err := elementOf(entry)
	if err != nil {
		return nil, err
	}
	list := yamlnode.Lookup(element, "versions")
	if list == nil {
		return nil, errEntry
	}
	text := append([]byte(wrapper), entry...)
	less := *list
	less.Content = nil
	for i, version := range slices.Backward(list.Content) {
		if keep(yamlnode.TextAt(yamlnode.Resolve(version), "name")) {
			less.Content = append([]*yaml.Node{version}, less.Content...)
			continue
		}
		if text != nil {
			text = withoutItem(text, list, i)
		}
	}
	return entryOf(withVersions(element, &less), bytes.TrimPrefix(text, []byte(wrapper)))
}

// withoutItem returns a text without the lines of an item of a list; nil where it has none of its own.
func withoutItem(text []byte, list *yaml.Node, index int) []byte {
	edit := yamledit.NewText(text)
	first, last, ok := edit.ItemLines(list, index)
	if !ok {
		return nil
	}
	edit.Remove(first, last)
	edited, _ := edit.Edited()
	return edited
}

// withVersions returns an entry with other versions.
func withVersions(element, versions *yaml.Node) *yaml.Node {
	expanded := *element
	expanded.Content = slices.Clone(element.Content)
	for i := 0; i+1 < len(expanded.Content); i += 2 {
		if name, _ := yamlnode.KeyName(expanded.Content[i]); name == "versions" {
			expanded.Content[i+1] = versions
			return &expanded
		}
	}
	expanded.Content = append(expanded.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "versions"}, versions)
	return &expanded
}
