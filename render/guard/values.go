package guard

import (
	"errors"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// maxValues bounds the nodes of default values, aliases followed.
const maxValues = 100_000

// errValues is returned for default values that are not a mapping of plain YAML.
var errValues = errors.New("they are no mapping of plain values")

// parseValues reads default values as the transformations do, by YAML 1.2, in which y is a string. They
// are untrusted: the parser may panic, and aliases may expand to many nodes.
func parseValues(text string) (values map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			values, err = nil, fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errValues
	}
	budget := maxValues
	content, err := plainValue(document.Content[0], &budget)
	if err != nil {
		return nil, err
	}
	values, ok := content.(map[string]any)
	if !ok {
		return nil, errValues
	}
	return values, nil
}

func plainValue(node *yaml.Node, budget *int) (any, error) {
	if *budget--; *budget < 0 {
		return nil, errValues
	}
	switch node.Kind {
	case yaml.AliasNode:
		return plainValue(node.Alias, budget)
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				return nil, errValues
			}
			value, err := plainValue(node.Content[i+1], budget)
			if err != nil {
				return nil, err
			}
			object[key.Value] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, element := range node.Content {
			value, err := plainValue(element, budget)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return plainScalar(node)
}

func plainScalar(node *yaml.Node) (any, error) {
	switch node.ShortTag() {
	case "!!str", "!!timestamp":
		return node.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool", "!!int", "!!float":
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		if number, ok := value.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
			return nil, errValues
		}
		return value, nil
	}
	return nil, errValues
}
