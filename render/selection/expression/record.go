// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// variable is the name of the only variable of expressions.
const variable = "app"

var (
	// An expression cannot name these types, and so cannot construct their values: names have no spaces.
	recordType = types.NewObjectType("catalog application")
	textMap    = types.NewMapType(types.StringType, types.StringType)
	anyMap     = types.NewMapType(types.StringType, types.DynType)
)

// record is an application as an expression sees it.
type record struct {
	application *catalog.Application
	source      string
	// spec is parsed by parsedSpec, and channels are collected, when an expression reads them.
	spec     map[string]any
	channels []string
}

func (r *record) parsedSpec() (map[string]any, error) {
	if r.spec != nil {
		return r.spec, nil
	}
	spec, err := r.application.Spec()
	r.spec = spec
	return spec, err
}

// numbers returns the versions. For a content they are its semantic versions: its names say more than these.
func (r *record) numbers() []string {
	if r.application.IsObject() {
		return r.application.Versions
	}
	return each.Map(r.application.Versions, func(version string) string { return r.application.Metadata.Versions.Of(version).Numbered() })
}

func (r *record) collectedChannels() []string {
	if r.channels == nil {
		r.channels = append([]string{}, r.application.Channels()...)
	}
	return r.channels
}

// ConvertToNative implements ref.Val; app has no other form.
func (r *record) ConvertToNative(wanted reflect.Type) (any, error) {
	if reflect.TypeOf(r).AssignableTo(wanted) {
		return r, nil
	}
	return nil, fmt.Errorf("app cannot be converted to %v", wanted)
}

// ConvertToType supports type(app).
func (r *record) ConvertToType(wanted ref.Type) ref.Val {
	switch wanted {
	case types.TypeType:
		return recordType
	case recordType:
		return r
	}
	return types.NewErr("app cannot be converted to %s", wanted.TypeName())
}

// Equal compares by identity.
func (r *record) Equal(other ref.Val) ref.Val {
	return types.Bool(other == ref.Val(r))
}

// Type returns the type of app.
func (r *record) Type() ref.Type {
	return recordType
}

// Value returns the record, which the getters of fields take.
func (r *record) Value() any {
	return r
}
