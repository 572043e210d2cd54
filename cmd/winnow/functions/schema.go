// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// conforms compares a config with the schema of its function, and reports whether it conforms, as to no version, which is
// nil, and to one without a schema.
func (r *resolver) conforms(ctx context.Context, c *configs.Config, s *Source, f *krmfunctions.Function, v *krmfunctions.Version) bool {
	if v == nil || v.Schema == nil {
		return true
	}
	at := fmt.Sprintf("%s:%d", s.Locate(f.Path), v.Schema.Line)
	schema, err := r.schemaOf(ctx, v)
	var object any
	if err == nil {
		object, err = yamlnode.Plain(c.Root)
	}
	content, isObject := object.(map[string]any)
	if err != nil || !isObject {
		r.Add(c.File, c.Line, "%s cannot be compared with the schema of its function (%s): %v", c, at, err)
		return false
	}
	found := schema.Check(ctx, content)
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

// schemaOf compiles the schema of a version once. It does not depend on the context, which is no fault of a schema.
func (r *resolver) schemaOf(ctx context.Context, v *krmfunctions.Version) (*crds.Schema, error) {
	return memo.Of(context.WithoutCancel(ctx), r.schemas, v, func() (*crds.Schema, error) {
		plain, err := yamlnode.Plain(v.Schema)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(plain)
		if err != nil {
			return nil, err
		}
		return crds.NewSchema(text)
	})
}
