// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// provider resolves the types of expressions besides CEL's own.
type provider struct {
	types.Provider
	fields map[string]*types.FieldType
	names  []string
}

func newProvider() *provider {
	p := &provider{Provider: types.NewEmptyRegistry(), fields: map[string]*types.FieldType{}}
	for _, field := range fields() {
		p.names = append(p.names, field.name)
		p.fields[field.name] = field.declaration()
	}
	return p
}

// FindStructType returns the types that expressions may select fields of.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	switch name {
	case recordType.TypeName():
		return types.NewTypeTypeWithParam(recordType), true
	case versionType.TypeName():
		return types.NewTypeTypeWithParam(versionType), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames returns the fields of app.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if name == recordType.TypeName() {
		return p.names, true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType returns a field of app.
func (p *provider) FindStructFieldType(name, fieldName string) (*types.FieldType, bool) {
	if name != recordType.TypeName() {
		return p.Provider.FindStructFieldType(name, fieldName)
	}
	found, ok := p.fields[fieldName]
	return found, ok
}

// NewValue returns an error: an expression cannot construct an application.
func (p *provider) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("%s cannot be made", name)
}

// adapter converts Go's values to CEL's. Its maps iterate in the order of their keys, while CEL's own
// have no order: an expression must have the same result in every evaluation.
type adapter struct{}

// NativeToValue converts a value and the values in it.
func (a adapter) NativeToValue(value any) ref.Val {
	switch typed := value.(type) {
	case map[string]string:
		return ordered{types.NewStringStringMap(a, typed)}
	case map[string]any:
		return ordered{types.NewStringInterfaceMap(a, typed)}
	case []any:
		return types.NewDynamicList(a, typed)
	default:
		return types.DefaultTypeAdapter.NativeToValue(value)
	}
}

// ordered is a map with string keys that iterates in their order.
type ordered struct {
	traits.Mapper
}

// Iterator returns the keys, sorted.
func (o ordered) Iterator() traits.Iterator {
	var keys []string
	for rest := o.Mapper.Iterator(); rest.HasNext() == types.True; {
		if key, ok := rest.Next().(types.String); ok {
			keys = append(keys, string(key))
		}
	}
	slices.Sort(keys)
	return types.NewStringList(adapter{}, keys).Iterator()
}
