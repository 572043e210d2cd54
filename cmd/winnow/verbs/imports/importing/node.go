// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// written returns the value of a key, nil without one or when node is no mapping. It follows no merge keys, and so is safe
// for documents that are not checked.
func written(node *yaml.Node, name string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for n := 0; n+1 < len(node.Content); n += 2 {
		if key := node.Content[n]; key.Kind == yaml.ScalarNode && key.Value == name {
			return yamlnode.Resolve(node.Content[n+1])
		}
	}
	return nil
}

// nameOf returns the name of an object, empty without one.
func nameOf(object *yaml.Node) string {
	name, _ := yamlnode.Text(written(written(object, "metadata"), "name"))
	return name
}

const definitionKind = "ApplicationDefinition"

// errAliases refuses what kubectl and Helm do not write.
var errAliases = errors.New("it has aliases or merge keys, which are taken in definitions only: write them out")

// scalar returns the text of a scalar, which need not be a string; empty for anything else.
func scalar(node *yaml.Node, name string) string {
	value := written(node, name)
	if value == nil || value.Kind != yaml.ScalarNode || yamlnode.IsNull(value) {
		return ""
	}
	return value.Value
}
