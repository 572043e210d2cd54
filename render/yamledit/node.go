// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// NewMapping returns an empty mapping.
func NewMapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// NewString returns a string scalar. The encoder quotes what YAML 1.2 would take for another
// type; KKP and Helm read YAML 1.1.
func NewString(value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if otherInYAML11.MatchString(value) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// otherInYAML11 matches what is a string for YAML 1.2, and a boolean or a number in base 60 for
// the readers of YAML 1.1.
var otherInYAML11 = regexp.MustCompile(`^(?i:y|n|yes|no|on|off)$|^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// Index returns the position of a key of a mapping, -1 without one.
func Index(mapping *yaml.Node, name string) int {
	return indexThat(mapping, func(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.Value == name })
}

func indexThat(mapping *yaml.Node, is func(key *yaml.Node) bool) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if is(mapping.Content[i]) {
			return i
		}
	}
	return -1
}

// Lookup returns the value of a key, nil without one or when node is no mapping.
func Lookup(node *yaml.Node, name string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	if i := Index(node, name); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// Set sets the value at a key of a mapping, behind the others if it is missing.
func Set(mapping *yaml.Node, name string, value *yaml.Node) {
	if i := Index(mapping, name); i >= 0 {
		mapping.Content[i+1] = value
		return
	}
	mapping.Content = append(mapping.Content, NewString(name), value)
}

// Clone copies a node with all below.
func Clone(node *yaml.Node) *yaml.Node {
	copied := *node
	copied.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		copied.Content[i] = Clone(child)
	}
	return &copied
}

// Forget removes the positions of a node, for another place.
func Forget(node *yaml.Node) {
	node.Line, node.Column = 0, 0
	for _, child := range node.Content {
		Forget(child)
	}
}

// same reports whether both nodes say the same in the same order. Styles and comments do not
// count; anchors, to which nothing refers, do.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	if a.ShortTag() != b.ShortTag() || a.Kind == yaml.ScalarNode && a.Value != b.Value && !yamlnode.IsNull(a) {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
