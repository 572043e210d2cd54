// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// ErrNoMapping reports that a document is no mapping.
var ErrNoMapping = errors.New("it is no mapping")

// Mapping reads the first document of untrusted data, which has to be a mapping, in the types of Plain.
func Mapping(data []byte) (map[string]any, error) {
	node, err := First(data)
	if err != nil {
		return nil, err
	}
	if node == nil {
		return nil, ErrNoMapping
	}
	if err := Validate(node); err != nil {
		return nil, err
	}
	content, err := Plain(node)
	if err != nil {
		return nil, err
	}
	mapping, ok := content.(map[string]any)
	if !ok {
		return nil, ErrNoMapping
	}
	return mapping, nil
}

// Plain converts a node into JSON's types, with int64 and float64 for numbers. The error names the value that JSON does
// not have.
func Plain(node *yaml.Node) (any, error) {
	node = Resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for _, entry := range Entries(node) {
			value, err := Plain(entry.Value)
			if err != nil {
				return nil, err
			}
			object[entry.Name] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, element := range node.Content {
			value, err := Plain(element)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	default:
		return Scalar(node)
	}
}
