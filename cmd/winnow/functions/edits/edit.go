// SPDX-License-Identifier: Apache-2.0

// Package edits writes runtimes into the configs of functions, and edits kustomizations, whose comments and style stay. It must
// not know where a runtime comes from.
package edits

import (
	"encoding/json"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Every edit is made twice: in the tree of the document, and in its text, where comments and style stay. A text with
// another content than the tree is replaced by the encoded tree.

var errEdit = errors.New("it is written in a way that is not edited here: write it in block style")

// copied returns the document of a text with its content, as a tree that may be edited.
func copied(text []byte) (document, root *yaml.Node, err error) {
	for found, err := range yamlnode.Documents(text) {
		if err != nil {
			return nil, nil, err
		}
		document = yamlnode.Expand(found)
		return document, document.Content[0], nil
	}
	return nil, nil, errEdit
}

// choose returns the edited text if it has the content of the edited document, and the encoded document otherwise.
func choose(text []byte, document *yaml.Node) ([]byte, error) {
	wanted, err := yamlnode.Plain(document.Content[0])
	if err != nil {
		return nil, err
	}
	if yamledit.Proves(text, []any{wanted}) {
		return text, nil
	}
	encoded, err := yamlnode.Encode(document)
	if err != nil {
		return nil, err
	}
	if !yamledit.Proves(encoded, []any{wanted}) {
		return nil, errEdit
	}
	return encoded, nil
}

// within returns the mapping in a field, which it makes if there is none.
func within(mapping *yaml.Node, name string) *yaml.Node {
	if found := yamlnode.Lookup(mapping, name); found != nil && found.Kind == yaml.MappingNode {
		return found
	}
	made := yamledit.NewMapping()
	yamledit.Set(mapping, name, made)
	return made
}

// Annotate gives a config a runtime with its hash, which may be empty, and a name unless that is empty.
func Annotate(text []byte, runtime, hash, name string) ([]byte, error) {
	document, root, err := copied(text)
	if err != nil {
		return nil, err
	}
	metadata, named := within(root, "metadata"), ""
	if name != "" {
		yamledit.Set(metadata, "name", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name})
		named = "name: " + name + "\n"
	}
	annotations := within(metadata, "annotations")
	yamledit.Set(annotations, configs.FunctionKey, yamledit.NewString(runtime))
	added := configs.FunctionKey + ": |\n" + yamledit.Indented(runtime, 2) + "\n"
	if hash != "" {
		yamledit.Set(annotations, configs.DigestKey, yamledit.NewString(configs.DigestPrefix+hash))
		added += configs.DigestKey + ": " + configs.DigestPrefix + hash + "\n"
	}
	if json.Valid(text) {
		styleAsJSON(root)
	}
	return choose(annotateText(withoutRuntime(text), added, named), document)
}

// styleAsJSON gives a tree the style of JSON, in which it is encoded.
func styleAsJSON(node *yaml.Node) {
	switch {
	case node.Kind != yaml.ScalarNode:
		node.Style = yaml.FlowStyle
	case node.ShortTag() == "!!str":
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		styleAsJSON(child)
	}
}

// withoutRuntime returns a text without the lines of the annotations that Annotate writes, where it has them in block style.
func withoutRuntime(text []byte) []byte {
	for _, key := range []string{configs.FunctionKey, configs.DigestKey} {
		root, err := configs.Parse(text)
		if err != nil {
			return text
		}
		metadata := yamlnode.Lookup(root, "metadata")
		annotations := yamlnode.Lookup(metadata, "annotations")
		found, ok := yamlnode.Find(annotations, key)
		if !ok || !yamledit.IsBlock(annotations) {
			continue
		}
		if len(annotations.Content) == 2 { // the last one
			found, _ = yamlnode.Find(metadata, "annotations")
		}
		text = withoutEntry(text, found.Line-1, false)
	}
	return text
}

// withoutEntry returns a text without an entry in block style, which begins in a line.
func withoutEntry(text []byte, line int, dashes bool) []byte {
	edit := yamledit.NewText(text)
	indent, _ := edit.Indent(line)
	edit.Remove(line, edit.LastLine(line, indent, dashes))
	edited, _ := edit.Edited()
	return edited
}

// annotateText inserts the lines of the annotations and of the name; nil where the config is written in another style than people
// use.
func annotateText(text []byte, annotations, name string) []byte {
	root, err := configs.Parse(text)
	if err != nil || !yamledit.IsBlock(root) || root.Content[0].Column != 1 {
		return nil
	}
	edit, metadata := yamledit.NewText(text), yamlnode.Lookup(root, "metadata")
	below := func(key, lines string, indent int) string {
		return yamledit.Indented(key+":\n"+yamledit.Indented(lines, 2), indent) + "\n"
	}
	if metadata == nil {
		edit.Insert(lastLineOfType(root), below("metadata", name+below("annotations", annotations, 0), 0))
		edited, _ := edit.Edited()
		return edited
	}
	if !yamledit.IsBlock(metadata) {
		return nil
	}
	first, existing := metadata.Content[0], yamlnode.Lookup(metadata, "annotations")
	indent := first.Column - 1
	if name != "" {
		edit.Insert(first.Line-1, yamledit.Indented(name, indent)+"\n")
	}
	switch {
	case existing == nil:
		edit.Insert(first.Line-1, below("annotations", annotations, indent))
	case !yamledit.IsBlock(existing) || existing.Content[0].Line <= first.Line:
		return nil
	default:
		edit.Insert(existing.Content[0].Line-1, yamledit.Indented(annotations, existing.Content[0].Column-1)+"\n")
	}
	edited, _ := edit.Edited()
	return edited
}

// lastLineOfType returns the line of apiVersion or kind, the later one of both.
func lastLineOfType(root *yaml.Node) (line int) {
	for _, entry := range yamlnode.Entries(root) {
		if entry.Name == "apiVersion" || entry.Name == "kind" {
			line = max(line, entry.Value.Line)
		}
	}
	return line
}

// WithoutField leaves a field of a kustomization out.
func WithoutField(text []byte, name string) ([]byte, error) {
	document, root, err := copied(text)
	if err != nil {
		return nil, err
	}
	if i := yamledit.Index(root, name); i >= 0 {
		root.Content = slices.Delete(root.Content, i, i+2)
	}
	original, err := configs.Parse(text)
	if err != nil {
		return nil, err
	}
	found, _ := yamlnode.Find(original, name)
	var edited []byte
	if original.Style&yaml.FlowStyle == 0 && found.Line > 0 {
		edited = withoutEntry(text, found.Line-1, true)
	}
	return choose(edited, document)
}

// Element is one of a list in a kustomization.
type Element struct {
	Field string
	Index int
}

// WithElements replaces elements of lists in a kustomization, which are texts of several lines.
func WithElements(text []byte, values map[Element]string) ([]byte, error) {
	document, root, err := copied(text)
	if err != nil {
		return nil, err
	}
	original, err := configs.Parse(text)
	if err != nil {
		return nil, err
	}
	edit := yamledit.NewText(text)
	for one, value := range values {
		replaced := yamlnode.Lookup(root, one.Field).Content[one.Index]
		replaced.Value, replaced.Style = value, yaml.LiteralStyle
		if node := yamlnode.Lookup(original, one.Field).Content[one.Index]; node.Style&yaml.LiteralStyle != 0 {
			edit.ReplaceLiteral(node, value)
		}
	}
	edited, _ := edit.Edited()
	return choose(edited, document)
}
