package transform

import (
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth of nested nodes, and maxNodes when all aliases are expanded: far more than people
	// write, far less than a "billion laughs" needs.
	maxDepth = 100
	maxNodes = 200_000
)

func newMapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// newString returns a string scalar. The encoder quotes what YAML 1.2 would take for another
// type; KKP and Helm read YAML 1.1.
func newString(value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if otherInYAML11.MatchString(value) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// otherInYAML11 matches what is a string for YAML 1.2, and a boolean or a number in base 60 for
// the readers of YAML 1.1.
var otherInYAML11 = regexp.MustCompile(`^(?i:y|n|yes|no|on|off)$|^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// resolve follows aliases.
func resolve(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// isMerge reports whether a key as written is the merge key, which a quoted "<<" is not.
func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// text returns a string scalar; not ok for any other node.
func text(node *yaml.Node) (string, bool) {
	node = resolve(node)
	if node == nil || node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" {
		return "", false
	}
	return node.Value, true
}

// index returns the position of a key that is written in the mapping, -1 without one.
func index(mapping *yaml.Node, name string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if key := resolve(mapping.Content[i]); key.Kind == yaml.ScalarNode && key.Value == name && !isMerge(mapping.Content[i]) {
			return i
		}
	}
	return -1
}

// lookup returns the value of a key, written or merged, without aliases; nil without one.
func lookup(mapping *yaml.Node, name string) *yaml.Node {
	mapping = resolve(mapping)
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	if i := index(mapping, name); i >= 0 {
		return resolve(mapping.Content[i+1])
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if !isMerge(mapping.Content[i]) {
			continue
		}
		merged := []*yaml.Node{mapping.Content[i+1]}
		if list := resolve(merged[0]); list.Kind == yaml.SequenceNode {
			merged = list.Content
		}
		for _, one := range merged {
			if value := lookup(one, name); value != nil {
				return value
			}
		}
	}
	return nil
}

// describe names the type of a node for a message.
func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch node.ShortTag() {
	case "!!str":
		return "a string"
	case "!!null":
		return "null"
	default:
		return "a scalar"
	}
}

// same reports whether both nodes say the same in the same order. Styles and comments do not
// count; anchors and aliases do.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.AliasNode {
		return a.Value == b.Value
	}
	if a.ShortTag() != b.ShortTag() || a.Kind == yaml.ScalarNode && a.Value != b.Value {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// sound checks what must hold before a document may be looked at without bounds: neither too
// deep nor too large with its aliases, and no key twice, which nobody could edit.
func sound(root *yaml.Node) error {
	s := structure{size: map[*yaml.Node]int{}, height: map[*yaml.Node]int{}}
	_, _, err := s.visit(root, 0)
	return err
}

type structure struct{ size, height map[*yaml.Node]int }

// visit returns how many nodes there are below and including node, and how deep they are nested.
func (s structure) visit(node *yaml.Node, depth int) (size, height int, err error) {
	if depth > maxDepth {
		return 0, 0, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	if node.Kind == yaml.AliasNode {
		size, known := s.size[node.Alias]
		if !known {
			return 0, 0, errors.New("an alias refers to itself: *" + node.Value)
		}
		if depth+s.height[node.Alias] > maxDepth {
			return 0, 0, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
		return size, s.height[node.Alias], nil
	}
	size = 1
	for _, child := range node.Content {
		below, deep, err := s.visit(child, depth+1)
		if err != nil {
			return 0, 0, err
		}
		if size, height = size+below, max(height, deep+1); size > maxNodes {
			return 0, 0, fmt.Errorf("it has more than %d nodes", maxNodes)
		}
	}
	if node.Anchor != "" {
		s.size[node], s.height[node] = size, height
	}
	if node.Kind == yaml.MappingNode {
		return size, height, keys(node)
	}
	return size, height, nil
}

// keys checks that no key is written twice.
func keys(mapping *yaml.Node) error {
	known := make(map[string]bool, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key is not a string", key.Line)
		}
		if known[key.Value] {
			return fmt.Errorf("line %d: the key %.80q is there twice", mapping.Content[i].Line, key.Value)
		}
		known[key.Value] = true
	}
	return nil
}
