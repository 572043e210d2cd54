// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Entry is a key of a mapping with its value.
type Entry struct {
	// Name is the key as JSON has it.
	Name string
	// Line of the key as it is written.
	Line int
	// Value without an alias at the top.
	Value *yaml.Node
}

// Entries returns the keys of a mapping in order, with keys of merge keys behind them where they add
// something: what is written wins over what is merged, and earlier merges over later ones. Keys that
// JSON cannot have are left out. It is nil for what is no mapping.
func Entries(mapping *yaml.Node) []Entry {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	all := make([]Entry, 0, len(mapping.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if IsMerge(key) {
			merged = append(merged, Merged(value)...)
			continue
		}
		if name, ok := KeyName(key); ok {
			all = append(all, Entry{Name: name, Line: key.Line, Value: Resolve(value)})
		}
	}
	if len(merged) == 0 {
		return all
	}
	return merge(all, merged)
}

func merge(all []Entry, sources []*yaml.Node) []Entry {
	known := make(map[string]bool, len(all))
	for _, written := range all {
		known[written.Name] = true
	}
	for _, source := range sources {
		for _, added := range Entries(Resolve(source)) {
			if !known[added.Name] {
				known[added.Name] = true
				all = append(all, added)
			}
		}
	}
	return all
}

// Merged returns what the value of a merge key merges. The first one with a key wins.
func Merged(value *yaml.Node) []*yaml.Node {
	if list := Resolve(value); list.Kind == yaml.SequenceNode {
		return list.Content
	}
	return []*yaml.Node{value}
}

// Find returns the entry of a mapping that Entries has for a name; not ok without one or when node is
// no mapping.
func Find(node *yaml.Node, name string) (found Entry, ok bool) {
	if node == nil || node.Kind != yaml.MappingNode {
		return Entry{}, false
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if written, ok := KeyName(key); ok && written == name && !IsMerge(key) {
			return Entry{Name: name, Line: key.Line, Value: Resolve(node.Content[i+1])}, true
		}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if !IsMerge(node.Content[i]) {
			continue
		}
		for _, source := range Merged(node.Content[i+1]) {
			if found, ok := Find(Resolve(source), name); ok {
				return found, true
			}
		}
	}
	return Entry{}, false
}

// Lookup returns the value of a key, written or merged, without an alias at the top; nil without one or
// when node is no mapping.
func Lookup(node *yaml.Node, name string) *yaml.Node {
	found, _ := Find(node, name)
	return found.Value
}

// Written returns the value of a key as it is written in a mapping, without merge keys: a document may merge itself, and is safe
// to be read by Lookup only after Check. Of a key that is there twice, it is the last one. It returns nil without the key, or
// when node is no mapping.
func Written(node *yaml.Node, name string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := len(node.Content) - 2; i >= 0; i -= 2 {
		if node.Content[i].Value == name {
			return Resolve(node.Content[i+1])
		}
	}
	return nil
}

// KeyName returns a key as JSON has it; not ok for what cannot be one.
func KeyName(key *yaml.Node) (name string, ok bool) {
	key = Resolve(key)
	if key.Kind != yaml.ScalarNode {
		return "", false
	}
	switch key.ShortTag() {
	case "!!str", "!!merge", "!!timestamp":
		return key.Value, true
	case "!!int", "!!float", "!!bool":
		value, err := Scalar(key)
		return fmt.Sprint(value), err == nil
	default:
		return "", false
	}
}
