// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
	return yamledit.OfJSON(value, yamlnode.MaxDepth)
}
