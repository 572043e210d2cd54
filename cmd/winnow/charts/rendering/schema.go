// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/winnow-dev/winnow/render/parallel"
)

// schemaURL is the address of a schema, by which it names itself.
const schemaURL = "file:///values.schema.json"

// checkSchemas checks values with the values.schema.json of a chart and of the charts in it, as Helm does. Unlike Helm it
// follows no reference to another file or to a server: what such a reference is about is not checked, and noted.
func checkSchemas(c *chart.Chart, values map[string]any) (notes []string, err error) {
	s := schemas{}
	s.chart(c, values)
	slices.Sort(s.notes)
	if err := errors.Join(s.failures...); err != nil {
		return nil, &refusal{BySchema, err}
	}
	return slices.Compact(s.notes), nil
}

type schemas struct {
	failures []error
	notes    []string
}

func (s *schemas) chart(c *chart.Chart, values map[string]any) {
	if c.Schema != nil {
		if err := s.check(c, values); err != nil {
			s.failures = append(s.failures, fmt.Errorf("the values do not satisfy values.schema.json of %s: %w", c.Name(), err))
		}
	}
	for _, sub := range c.Dependencies() {
		switch below := values[sub.Name()].(type) {
		case nil:
		case map[string]any:
			s.chart(sub, below)
		default:
			s.failures = append(s.failures, fmt.Errorf("the values of %s are no mapping", sub.ChartFullPath()))
		}
	}
}

func (s *schemas) check(c *chart.Chart, values map[string]any) (err error) {
	defer parallel.RecoverAs("it cannot be compiled", &err)
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Schema))
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(loadNothing{c.Name(), s})
	if err := compiler.AddResource(schemaURL, content); err != nil {
		return err
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return err
	}
	if err := compiled.Validate(values); err != nil {
		// Behind the first line, which only has the address, stands a violation a line.
		_, violations, _ := strings.Cut(err.Error(), "\n")
		return errors.New(strings.Join(strings.Fields(violations), " "))
	}
	return nil
}

// loadNothing takes the place of every other schema that one refers to by a schema that allows everything.
type loadNothing struct {
	chart string
	*schemas
}

// Load is part of jsonschema.URLLoader.
func (l loadNothing) Load(url string) (any, error) {
	l.notes = append(l.notes, fmt.Sprintf("values.schema.json of %s refers to %s, which is not read", l.chart, url))
	return true, nil
}

// refusal is an error of what refuses to render.
type refusal struct {
	by Refusal
	error
}
