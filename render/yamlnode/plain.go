package yamlnode

import (
	"errors"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// ErrNoMapping says that a document is no mapping.
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

// Plain converts a node into JSON's types, with int64 and float64 for numbers. The error names what JSON
// has no word for.
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

// Scalar is Plain of a scalar.
func Scalar(node *yaml.Node) (any, error) {
	switch node.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		return node.Value, nil
	case "!!null":
		return nil, nil
	case "!!int", "!!float", "!!bool":
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s is not %s", quote(node.Value), Describe(node))
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
		return nil, fmt.Errorf("%s is not %s", quote(node.Value), Describe(node))
	}
}

// IsRounded reports whether a value in the types of Plain may be another number than the one that was written: readers of
// YAML and JSON round integers that no int64 holds to a float64, or to the least int64.
func IsRounded(value any) bool {
	switch typed := value.(type) {
	case int64:
		return typed == math.MinInt64
	case float64:
		return math.Abs(typed) >= 1<<63
	default:
		return false
	}
}
