// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"cmp"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Resolve returns what an alias refers to, and any other node as it is.
func Resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// IsMerge reports whether a key as written is the merge key, which a quoted "<<" is not.
func IsMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// IsNull reports whether a node is null, written or left out.
func IsNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// Describe names the type of a node for a message.
func Describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	tag := node.ShortTag()
	name := map[string]string{
		"!!str": "a string", "!!int": "a number", "!!float": "a number", "!!bool": "a boolean", "!!null": "null", "!!timestamp": "a timestamp",
	}[tag]
	return cmp.Or(name, "a value with the tag "+quote(tag))
}

func quote(text string) string { return excerpt.Quoted(text) }
