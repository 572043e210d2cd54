// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// values merges the selection's values into the default values of applications.
type values struct {
	// rules of an application, by its name, in order.
	rules map[string][]valuesRule
}

type valuesRule struct {
	field               string
	defaults, overrides *yaml.Node // mappings with sorted keys, or nil
}

func newValues(configured []v1alpha1.ValuesRule) (values, error) {
	v := values{rules: map[string][]valuesRule{}}
	var errs []error
	for i, rule := range configured {
		compiled := valuesRule{field: fmt.Sprintf("spec.values[%d]", i)}
		var err error
		if compiled.defaults, err = object(rule.Defaults); err != nil {
			errs = append(errs, &Error{Field: compiled.field + ".defaults", Err: err})
		}
		if compiled.overrides, err = object(rule.Overrides); err != nil {
			errs = append(errs, &Error{Field: compiled.field + ".overrides", Err: err})
		}
		for _, name := range rule.Names {
			v.rules[name] = append(v.rules[name], compiled)
		}
	}
	return v, errors.Join(errs...)
}

func (v values) concerns(in Input) bool { return len(v.rules[in.Application.Name]) > 0 }

func (v values) apply(in Input, doc *yamledit.Document, _ *Output) *Error {
	for _, rule := range v.rules[in.Application.Name] {
		if err := rule.apply(in.Application.Group, doc); err != nil {
			return &Error{Field: rule.field, Err: err}
		}
	}
	return nil
}

// apply lets the overrides win over the rule's own defaults.
func (r valuesRule) apply(group string, doc *yamledit.Document) error {
	for _, m := range []struct {
		values   *yaml.Node
		override bool
	}{{r.defaults, false}, {r.overrides, true}} {
		if m.values == nil || len(m.values.Content) == 0 {
			continue
		}
		d, err := openDefaults(doc)
		if err != nil {
			return err
		}
		if d == nil {
			if d, err = createDefaults(group, doc); err != nil {
				return err
			}
		}
		d.merge(m.values, m.override)
		if err := d.close(); err != nil {
			return fmt.Errorf("changing spec.%s: %w", d.name, err)
		}
	}
	return nil
}

// object reads a JSON object into a mapping with sorted keys, nil without one.
func object(values *apiextensionsv1.JSON) (*yaml.Node, error) {
	if values == nil || len(bytes.TrimSpace(values.Raw)) == 0 {
		return nil, nil
	}
	raw := values.Raw
	if len(raw) > yamledit.MaxDocument {
		return nil, fmt.Errorf("must not be larger than %d bytes", yamledit.MaxDocument)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one JSON value")
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, errors.New("must be an object")
	}
	node, err := plain(value, 0)
	return node, err
}

// plain turns a JSON value into a node.
func plain(value any, depth int) (*yaml.Node, error) {
	if depth > yamlnode.MaxDepth {
		return nil, fmt.Errorf("is nested deeper than %d levels", yamlnode.MaxDepth)
	}
	switch typed := value.(type) {
	case map[string]any:
		node := yamledit.NewMapping()
		for _, key := range slices.Sorted(maps.Keys(typed)) {
			child, err := plain(typed[key], depth+1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, yamledit.NewString(key), child)
		}
		return node, nil
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, element := range typed {
			child, err := plain(element, depth+1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		return node, nil
	default:
		return scalar(typed)
	}
}

func scalar(value any) (*yaml.Node, error) {
	switch typed := value.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(typed)}, nil
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
		node := yamledit.NewString(typed)
		// Literal blocks hold most texts, but not all of them: lines that start or end with
		// spaces need more care than a quoted scalar.
		if strings.Contains(typed, "\n") && !literal(typed) {
			node.Style = yaml.DoubleQuotedStyle
		}
		return node, nil
	}
	return nil, fmt.Errorf("%T is not a type of JSON", value)
}

// literal reports whether the encoder writes a text of several lines safely as a literal block.
func literal(content string) bool {
	if strings.ContainsAny(content[:1], " \t\n") || strings.ContainsAny(content, "\r\t\u0085\u2028\u2029\ufeff") {
		return false
	}
	return !strings.Contains(content, " \n") && !strings.Contains(content, "\n\n\n") && !strings.HasSuffix(content, " ") &&
		!strings.HasSuffix(content, "\n\n")
}
