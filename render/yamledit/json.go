// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// OfJSON returns a value of JSON's types as a node with sorted keys, written so that kustomize, which writes every object
// again, carries each value. It returns an error for a value that is nested deeper than a number of levels.
func OfJSON(value any, levels int) (*yaml.Node, error) { return conversion(levels).node(value, 0) }

// conversion is how deep the values that it converts may be nested.
type conversion int

func (c conversion) node(value any, depth int) (*yaml.Node, error) {
	if depth > int(c) {
		return nil, fmt.Errorf("is nested deeper than %d levels", c)
	}
	switch typed := value.(type) {
	case map[string]any:
		node := NewMapping()
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			member, err := c.node(typed[name], depth+1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, textNode(name), member)
		}
		return node, nil
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, value := range typed {
			element, err := c.node(value, depth+1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, element)
		}
		return node, nil
	default:
		return scalarOfJSON(typed)
	}
}

func scalarOfJSON(value any) (*yaml.Node, error) {
	switch typed := value.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(typed)}, nil
	case int64, float64:
		number, err := json.Marshal(typed)
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(number)}, err
	case json.Number:
		node := &yaml.Node{Kind: yaml.ScalarNode, Value: typed.String()}
		if node.Tag = node.ShortTag(); node.Tag != "!!int" && node.Tag != "!!float" {
			return nil, fmt.Errorf("%.80s is not a number that can be written", typed)
		}
		// The API server has rounded what a file has, so that the two would make different artifacts.
		if value, err := yamlnode.Scalar(node); err != nil || yamlnode.IsRounded(value) {
			return nil, fmt.Errorf("%.80s is a number that readers of YAML and JSON round, because no signed integer of 64 bits holds it: write it in quotes", typed)
		}
		return node, nil
	case string:
		return textNode(typed), nil
	}
	return nil, fmt.Errorf("%T is not a type of JSON", value)
}

// textNode is NewString of a text of several lines, too. Literal blocks hold most of them, but not all: lines that start or
// end with spaces need more care than a quoted scalar.
func textNode(text string) *yaml.Node {
	node := NewString(text)
	if strings.Contains(text, "\n") && !isBlock(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// isBlock reports whether every encoder writes a text of several lines safely as a literal block.
func isBlock(text string) bool {
	return !strings.ContainsAny(text[:1], " \t\n") && !strings.ContainsAny(text, "\r\t\u0085\u2028\u2029\ufeff") &&
		!strings.Contains(text, " \n") && !strings.Contains(text, "\n\n\n") && !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, "\n\n")
}
