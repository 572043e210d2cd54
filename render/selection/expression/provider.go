// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
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
