package selection

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/winnow-dev/winnow/render/catalog"
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

// field of an application in expressions.
type field struct {
	name string
	kind *types.Type
	get  func(*record) (any, error)
}

// fields of app. The versions are those of the catalog, before versions narrows them.
func fields() []field {
	return []field{
		texts("name", func(r *record) string { return r.application.Name }),
		texts("kind", func(r *record) string { return r.application.Kind }),
		texts("group", func(r *record) string { return r.application.Group }),
		texts("tier", func(r *record) string { return r.application.Metadata.Tier }),
		{"publisher", types.StringType, (*record).publisher},
		{"runtime", types.NewListType(types.StringType), (*record).runtimes},
		texts("deprecated", func(r *record) string { return r.application.Metadata.Deprecated }),
		texts("source", func(r *record) string { return r.source }),
		ofContent("latestVersion", types.StringType, func(r *record) any { return highest(r.numbers()) }),
		ofContent("versions", types.NewListType(types.StringType), func(r *record) any { return r.numbers() }),
		ofContent("channels", types.NewListType(types.StringType), func(r *record) any { return r.collectedChannels() }),
		{"labels", textMap, func(r *record) (any, error) { return r.application.Metadata.Labels, nil }},
		{"annotations", textMap, func(r *record) (any, error) { return r.application.Metadata.Annotations, nil }},
		{"objectLabels", textMap, func(r *record) (any, error) { return r.application.Labels, nil }},
		{"objectAnnotations", textMap, func(r *record) (any, error) { return r.objectAnnotations() }},
		ofContent("gvks", types.NewListType(textMap), func(r *record) any { return r.provided() }),
		ofContent("requires", types.NewListType(textMap), func(r *record) any { return r.required() }),
		{"metadata", anyMap, func(r *record) (any, error) { return r.application.Metadata.Extra, nil }},
		{"spec", anyMap, func(r *record) (any, error) { return r.parsedSpec() }},
	}
}

func texts(name string, get func(*record) string) field {
	return field{name: name, kind: types.StringType, get: func(r *record) (any, error) { return get(r), nil }}
}

// ofContent is a field of what a content says. It is an error where the content is not known, as in a record without it:
// an expression may have another result than it had.
func ofContent(name string, kind *types.Type, get func(*record) any) field {
	return field{name, kind, func(r *record) (any, error) {
		if !r.application.IsKnown() {
			return nil, fmt.Errorf("app.%s is not known", name)
		}
		return get(r), nil
	}}
}

func (r *record) parsedSpec() (map[string]any, error) {
	if r.spec != nil {
		return r.spec, nil
	}
	spec, err := r.application.Spec()
	r.spec = spec
	return spec, err
}

// numbers returns the versions, those of a content by their semantic versions: its names say more than these.
func (r *record) numbers() []string {
	if r.application.IsObject() {
		return r.application.Versions
	}
	numbers := make([]string, 0, len(r.application.Versions))
	for _, version := range r.application.Versions {
		numbers = append(numbers, r.application.Metadata.Versions.Of(version).Numbered())
	}
	return numbers
}

func (r *record) collectedChannels() []string {
	if r.channels == nil {
		r.channels = append([]string{}, r.application.Channels()...)
	}
	return r.channels
}

// objectAnnotations returns an error where they are not known: a record of an older release lacks them, and
// without them an expression may have another result than it had.
func (r *record) objectAnnotations() (map[string]string, error) {
	if r.application.Annotations == nil {
		return nil, errors.New("app.objectAnnotations is not known")
	}
	return r.application.Annotations, nil
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
