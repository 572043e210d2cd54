// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"reflect"

	"github.com/Masterminds/semver/v3"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/winnow-dev/winnow/render/excerpt"
)

var versionType = types.NewObjectType("semantic version", traits.ComparerType)

// semverFunctions declares semver(string), isSemver(string) and the operators on versions. Equality works
// for all types anyway.
func semverFunctions() []cel.EnvOption {
	compared := []*cel.Type{versionType, versionType}
	return []cel.EnvOption{
		cel.Function("semver", cel.Overload("semver_string", []*cel.Type{cel.StringType}, versionType,
			cel.UnaryBinding(newVersion))),
		cel.Function("isSemver", cel.Overload("is_semver_string", []*cel.Type{cel.StringType}, cel.BoolType,
			cel.UnaryBinding(isSemver))),
		// CEL's own implementation of the operators compares values that implement traits.Comparer.
		cel.Function(operators.Less, cel.Overload("less_semver", compared, cel.BoolType)),
		cel.Function(operators.LessEquals, cel.Overload("less_equals_semver", compared, cel.BoolType)),
		cel.Function(operators.Greater, cel.Overload("greater_semver", compared, cel.BoolType)),
		cel.Function(operators.GreaterEquals, cel.Overload("greater_equals_semver", compared, cel.BoolType)),
	}
}

func newVersion(argument ref.Val) ref.Val {
	text, ok := argument.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(argument)
	}
	parsed, err := semver.NewVersion(string(text))
	if err != nil {
		return types.NewErr("%q is not a semantic version", excerpt.Of(string(text)))
	}
	return version{parsed}
}

func isSemver(argument ref.Val) ref.Val {
	text, ok := argument.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(argument)
	}
	_, err := semver.NewVersion(string(text))
	return types.Bool(err == nil)
}

// version is a semantic version in expressions. Versions that differ only in build metadata are
// equal, as their precedence is.
type version struct {
	*semver.Version
}

// Compare returns -1, 0 or 1.
func (v version) Compare(other ref.Val) ref.Val {
	theirs, ok := other.(version)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Int(v.Version.Compare(theirs.Version))
}

// Equal compares by precedence.
func (v version) Equal(other ref.Val) ref.Val {
	theirs, ok := other.(version)
	return types.Bool(ok && v.Version.Compare(theirs.Version) == 0)
}

// ConvertToNative implements ref.Val; a version has no other form.
func (v version) ConvertToNative(wanted reflect.Type) (any, error) {
	if reflect.TypeOf(v).AssignableTo(wanted) {
		return v, nil
	}
	return nil, fmt.Errorf("a version cannot be converted to %v", wanted)
}

// ConvertToType supports type(semver("1.0.0")).
func (v version) ConvertToType(wanted ref.Type) ref.Val {
	switch wanted {
	case types.TypeType:
		return versionType
	case versionType:
		return v
	}
	return types.NewErr("a version cannot be converted to %s", wanted.TypeName())
}

// Type returns the type of versions.
func (v version) Type() ref.Type {
	return versionType
}

// Value returns the version itself.
func (v version) Value() any {
	return v.Version
}
