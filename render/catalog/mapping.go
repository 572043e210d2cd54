package catalog

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// entry is a key of a mapping with its value, both without aliases.
type entry struct {
	name  string
	line  int
	value *yaml.Node
}

// entries returns the keys of a mapping in order, with those of merge keys where they add
// something: what is written wins over what is merged, and earlier merges over later ones.
// The document must be sound. Keys that are no strings are empty.
func entries(mapping *yaml.Node) []entry {
	all := make([]entry, 0, len(mapping.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], resolve(mapping.Content[i+1])
		if isMerge(key) {
			merged = append(merged, value)
			continue
		}
		name, _ := keyName(resolve(key))
		all = append(all, entry{name: name, line: key.Line, value: value})
	}
	if len(merged) == 0 {
		return all
	}
	return merge(all, merged)
}

func merge(all []entry, merged []*yaml.Node) []entry {
	known := make(map[string]bool, len(all))
	for _, written := range all {
		known[written.name] = true
	}
	for _, value := range merged {
		mappings := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			mappings = value.Content
		}
		for _, mapping := range mappings {
			for _, added := range entries(resolve(mapping)) {
				if !known[added.name] {
					known[added.name] = true
					all = append(all, added)
				}
			}
		}
	}
	return all
}

// member returns the value of a key, nil without one or when node is no mapping.
func member(node *yaml.Node, name string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for _, candidate := range entries(node) {
		if candidate.name == name {
			return candidate.value
		}
	}
	return nil
}

// resolve follows aliases.
func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// isMerge reports whether a key as written is the merge key, which a quoted "<<" is not.
func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// keyName returns a key as JSON has it; not ok for what cannot be one.
func keyName(key *yaml.Node) (name string, ok bool) {
	if key.Kind != yaml.ScalarNode {
		return "", false
	}
	switch key.ShortTag() {
	case "!!str", "!!merge", "!!timestamp":
		return key.Value, true
	case "!!int", "!!float", "!!bool":
		value, err := scalar(key)
		return fmt.Sprint(value), err == nil
	default:
		return "", false
	}
}

// text returns a string scalar; not ok for any other node.
func text(node *yaml.Node) (value string, ok bool) {
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" {
		return "", false
	}
	return node.Value, true
}

// describe names the type of a node for a message.
func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch node.ShortTag() {
	case "!!str":
		return "a string"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a boolean"
	case "!!null":
		return "null"
	case "!!timestamp":
		return "a timestamp"
	default:
		return "a value with the tag " + quote(node.ShortTag())
	}
}

// plain converts a sound node into JSON's types. The error names what JSON has no word for.
func plain(node *yaml.Node) (any, error) {
	node = resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for _, member := range entries(node) {
			value, err := plain(member.value)
			if err != nil {
				return nil, err
			}
			object[member.name] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, element := range node.Content {
			value, err := plain(element)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	default:
		return scalar(node)
	}
}

func scalar(node *yaml.Node) (any, error) {
	switch node.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		return node.Value, nil
	case "!!null":
		return nil, nil
	case "!!int", "!!float", "!!bool":
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s is not %s", quote(node.Value), describe(node))
		}
		return number(node, value)
	default:
		return nil, fmt.Errorf("the tag %s has no meaning here", quote(node.ShortTag()))
	}
}

// number brings the parser's types down to int64, float64 and bool.
func number(node *yaml.Node, value any) (any, error) {
	switch typed := value.(type) {
	case bool, int64:
		return typed, nil
	case int:
		return int64(typed), nil
	case uint64:
		return float64(typed), nil
	case float64:
		if math.IsNaN(typed) || math.IsInf(typed, 0) {
			return nil, fmt.Errorf("%s is not a finite number", quote(node.Value))
		}
		return typed, nil
	default:
		return nil, fmt.Errorf("%s is not %s", quote(node.Value), describe(node))
	}
}
