// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// YAML returns the object with sorted keys, written so that kustomize, which writes every object again, carries
// each value.
func (o Object) YAML() ([]byte, error) {
	node, err := encode(o.Object)
	if err != nil {
		return nil, err
	}
	return yamlnode.Encode(node)
}

func encode(value any) (*yaml.Node, error) {
	switch typed := value.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			member, err := encode(typed[name])
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, encodeText(name), member)
		}
		return node, nil
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, value := range typed {
			element, err := encode(value)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, element)
		}
		return node, nil
	case string:
		return encodeText(typed), nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(typed)}, nil
	case int64, float64:
		number, err := json.Marshal(typed)
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(number)}, err
	default:
		return nil, fmt.Errorf("%T is not a type of JSON", value)
	}
}

// otherInYAML11 matches what the encoder takes for a string, and readers of YAML 1.1 for a boolean or a number in
// base 60.
var otherInYAML11 = regexp.MustCompile(`^(?i:y|n|yes|no|on|off)$|^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

func encodeText(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if otherInYAML11.MatchString(text) || strings.Contains(text, "\n") && !isBlock(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// isBlock reports whether every encoder writes a text of several lines safely as a block of lines.
func isBlock(text string) bool {
	return !strings.ContainsAny(text[:1], " \t\n") && !strings.ContainsAny(text, "\r\t\u2028\u2029\ufeff") &&
		!strings.Contains(text, " \n") && !strings.Contains(text, "\n\n\n") && !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, "\n\n")
}
