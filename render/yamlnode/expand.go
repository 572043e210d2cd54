// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// IsExpanded reports whether there are neither aliases nor merge keys in a document.
func IsExpanded(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode {
		return false
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && IsMerge(child) || !IsExpanded(child) {
			return false
		}
	}
	return true
}

// Expand returns a copy of a document, for which Check has no problem to report, without aliases, merge
// keys and anchors. The entries of a merge key stand in its place. Comments are not repeated where an
// alias is, because Check does not count them; those beside aliases, merge keys and anchors stand above
// the entry. The nodes have no position.
func Expand(document *yaml.Node) *yaml.Node {
	copied, _ := destination{}.expand(document)
	return copied
}

// destination is where a node is copied to.
type destination struct {
	// repeated reports whether the node is written elsewhere, flow that it is within brackets.
	repeated, flow bool
}

// expand returns the copy of a node, and the comments that it has no place for.
func (d destination) expand(written *yaml.Node) (copied *yaml.Node, beside string) {
	node := Resolve(written)
	copied = &yaml.Node{Kind: node.Kind, Style: node.Style, Tag: node.Tag, Value: node.Value}
	if !d.repeated {
		copied.HeadComment, copied.LineComment, copied.FootComment = written.HeadComment, written.LineComment, written.FootComment
	}
	if len(node.Content) == 0 {
		return copied, ""
	}
	if d.flow {
		copied.Style |= yaml.FlowStyle
	}
	if node != written {
		beside, copied.LineComment = copied.LineComment, ""
	}
	e := expansion{
		destination: destination{repeated: d.repeated || node != written, flow: copied.Style&yaml.FlowStyle != 0},
		into:        copied,
	}
	if node.Kind == yaml.MappingNode {
		e.entries(node)
	} else {
		for _, child := range node.Content {
			element, comment := e.expand(child)
			e.add(comment, element)
		}
	}
	return copied, join(beside, e.left())
}

// expansion is a mapping or a list that is being copied.
type expansion struct {
	destination

	into *yaml.Node
	// comments have no place yet.
	comments []string
}

func (e *expansion) entries(mapping *yaml.Node) {
	known := map[string]bool{}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if name, ok := KeyName(pair[0]); ok && !IsMerge(pair[0]) {
			known[name] = true
		}
	}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if IsMerge(pair[0]) {
			e.merge(pair[0], pair[1], known)
			continue
		}
		key, _ := e.expand(pair[0])
		value, comment := e.expand(pair[1])
		e.add(comment, key, value)
	}
}

// merge adds what a merge key brings and is not known.
func (e *expansion) merge(key, value *yaml.Node, known map[string]bool) {
	list := Resolve(value)
	from := destination{repeated: e.repeated || list.Kind == yaml.SequenceNode && list != value, flow: e.flow}
	for _, node := range []*yaml.Node{key, value} {
		if !e.repeated && (node == key || list.Kind == yaml.SequenceNode) {
			e.comments = append(e.comments, node.HeadComment, node.LineComment, node.FootComment)
		}
	}
	for _, source := range Merged(value) {
		merged, comment := from.expand(source)
		e.comments = append(e.comments, merged.HeadComment, comment, merged.FootComment)
		for pair := range slices.Chunk(merged.Content, 2) {
			if name, ok := KeyName(pair[0]); ok && !known[name] {
				known[name] = true
				e.add("", pair[0], pair[1])
			}
		}
	}
}

// add adds an element, or a key and its value, below a comment. Comments within brackets, and those that
// the parser gives to what follows an anchor, the encoder would leave out or misplace.
func (e *expansion) add(comment string, nodes ...*yaml.Node) {
	first, last := nodes[0], nodes[len(nodes)-1]
	e.into.Content = append(e.into.Content, nodes...)
	isInline := len(last.Content) == 0 || last.Style&yaml.FlowStyle != 0
	if strings.Contains(first.LineComment, "\n") || first != last && isInline {
		comment, first.LineComment = join(first.LineComment, comment), ""
	}
	if e.flow {
		e.comments = append(e.comments, comment)
		return
	}
	first.HeadComment, e.comments = join(append(e.comments, first.HeadComment, comment)...), nil
}

// left returns the comments that are still without a place. Behind the last entry is one.
func (e *expansion) left() string {
	if last := len(e.into.Content) - 2; last >= 0 && !e.flow && e.into.Kind == yaml.MappingNode {
		e.into.Content[last].FootComment = join(append([]string{e.into.Content[last].FootComment}, e.comments...)...)
		return ""
	}
	return join(e.comments...)
}

func join(comments ...string) string {
	return strings.Join(slices.DeleteFunc(comments, func(comment string) bool { return comment == "" }), "\n")
}
