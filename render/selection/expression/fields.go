// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"

	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// field of an application in expressions.
type field struct {
	name string
	kind *types.Type
	get  func(*record) (any, error)
}

// fields of app. The versions are the catalog's, before versions narrows them.
func fields() []field {
	return []field{
		texts("name", func(r *record) string { return r.application.Name }),
		texts("kind", func(r *record) string { return r.application.Kind }),
		texts("group", func(r *record) string { return r.application.Group }),
		texts("tier", func(r *record) string { return r.application.Metadata.Tier }),
		texts("publisher", func(r *record) string { return r.function().Publisher }),
		facts("runtime", types.NewListType(types.StringType), func(r *record) any { return append([]string{}, r.function().Runtimes()...) }),
		texts("deprecated", func(r *record) string { return r.application.Metadata.Deprecated }),
		texts("source", func(r *record) string { return r.source }),
		facts("latestVersion", types.StringType, func(r *record) any { return numbered.Highest(r.numbers()).Text }),
		facts("versions", types.NewListType(types.StringType), func(r *record) any { return r.numbers() }),
		facts("channels", types.NewListType(types.StringType), func(r *record) any { return r.collectedChannels() }),
		facts("labels", textMap, func(r *record) any { return r.application.Metadata.Labels }),
		facts("annotations", textMap, func(r *record) any { return r.application.Metadata.Annotations }),
		facts("objectLabels", textMap, func(r *record) any { return r.application.Labels }),
		facts("objectAnnotations", textMap, func(r *record) any { return r.application.Annotations }),
		facts("gvks", types.NewListType(textMap), func(r *record) any { return r.provided() }),
		facts("requires", types.NewListType(textMap), func(r *record) any { return r.required() }),
		facts("metadata", anyMap, func(r *record) any { return r.application.Metadata.Extra }),
		{"spec", anyMap, func(r *record) (any, error) { return r.parsedSpec() }},
	}
}

func texts(name string, get func(*record) string) field {
	return facts(name, types.StringType, func(r *record) any { return get(r) })
}

func facts(name string, kind *types.Type, get func(*record) any) field {
	return field{name, kind, func(r *record) (any, error) { return get(r), nil }}
}

// declaration declares a field that is present, for has(), when it is not empty, or not known: what reads it
// behind has() then fails. A spec is always present.
func (f field) declaration() *types.FieldType {
	return &types.FieldType{
		Type: f.kind,
		IsSet: func(target any) bool {
			app, ok := target.(*record)
			if !ok || f.name == "spec" {
				return ok
			}
			value, err := f.get(app)
			return err != nil || reflect.ValueOf(value).Len() > 0
		},
		GetFrom: func(target any) (any, error) {
			app, ok := target.(*record)
			if !ok {
				return nil, fmt.Errorf("no such field: %s", f.name)
			}
			return f.get(app)
		},
	}
}
