// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// compiledSchema is the schema of a version of a function, or why it cannot be read.
type compiledSchema struct {
	schema *crds.Schema
	err    error
}

// conforms compares a config with the schema of its function, and reports whether it conforms, as to no version, which is
// nil, and to one without a schema.
func (r *resolver) conforms(ctx context.Context, c *configs.Config, s *Source, f *krmfunctions.Function, v *krmfunctions.Version) bool {
	if v == nil || v.Schema == nil {
		return true
	}
	at := fmt.Sprintf("%s:%d", s.Locate(f.Path), v.Schema.Line)
	compiled := r.schemaOf(v)
	var object any
	err := compiled.err
	if err == nil {
		object, err = yamlnode.Plain(c.Root)
	}
	content, isObject := object.(map[string]any)
	if err != nil || !isObject {
		r.Add(c.File, c.Line, "%s cannot be compared with the schema of its function (%s): %v", c, at, err)
		return false
	}
	found := compiled.schema.Check(ctx, content)
	for _, one := range found {
		line := c.Line
		if one.Field != "" {
			line += field.Root(c.Root).At(one.Field).Line - c.Root.Line
			one.Message = one.Field + ": " + one.Message
		}
		r.Add(c.File, line, "%s breaks the schema of its function (%s): %s", c, at, one.Message)
	}
	return len(found) == 0
}

// schemaOf compiles the schema of a version once.
func (r *resolver) schemaOf(v *krmfunctions.Version) *compiledSchema {
	if known := r.schemas[v]; known != nil {
		return known
	}
	compiled := &compiledSchema{}
	plain, err := yamlnode.Plain(v.Schema)
	var text []byte
	if err == nil {
		text, err = json.Marshal(plain)
	}
	if err == nil {
		compiled.schema, err = crds.NewSchema(text)
	}
	compiled.err = err
	r.schemas[v] = compiled
	return compiled
}
