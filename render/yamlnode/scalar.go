// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// Scalar is Plain of a scalar: its value in the types of JSON.
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

// Text returns a string scalar; not ok for any other node, and for nil.
func Text(node *yaml.Node) (value string, ok bool) {
	if node == nil || node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" {
		return "", false
	}
	return node.Value, true
}

// TextAt returns the string at a path of keys, as Lookup finds them; empty without one.
func TextAt(node *yaml.Node, path ...string) string {
	for _, name := range path {
		node = Lookup(node, name)
	}
	text, _ := Text(node)
	return text
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
