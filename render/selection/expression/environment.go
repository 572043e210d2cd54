// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// unbounded are the string functions whose time or result grows with the product of two sizes. The cost
// of a call is counted only after the call, so a single call could exhaust the memory.
var unbounded = [...]string{"format", "indexOf", "join", "lastIndexOf", "replace"}

// newEnvironment declares what an expression can use. A result depends on the application alone:
// there is no clock, and a loop over a map follows the order of its keys.
//
// The engine is the one of the API server's packages; their base environment is not used. Its
// semver() refuses a leading v and has no operators, its literals cannot mix types, and its string
// functions lack reverse. It has the functions in unbounded, because the API server estimates a cost
// from the sizes in a schema, which a catalog does not have. It would add metrics and feature gates,
// which are process-wide state.
func newEnvironment() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(adapter{}),
		cel.CustomTypeProvider(newProvider()),
		cel.Variable(variable, recordType),
		cel.ParserExpressionSizeLimit(maxExpression),
		ext.Strings(ext.StringsVersion(3)),
	}
	for _, function := range unbounded {
		// A declaration needs an overload, even a disabled one that is never called.
		disabled := cel.Overload(function+"_disabled", nil, cel.BoolType)
		options = append(options, cel.Function(function, cel.DisableDeclaration(true), disabled))
	}
	return cel.NewEnv(append(options, semverFunctions()...)...)
}

// costs counts the functions for which CEL counts one step, however much they copy.
type costs struct{}

// CallCost returns nil for the functions whose cost CEL counts itself.
func (costs) CallCost(function, _ string, arguments []ref.Val, result ref.Val) *uint64 {
	switch function {
	case "charAt", "lowerAscii", "reverse", "split", "substring", "strings.quote", "trim", "upperAscii":
	default:
		return nil
	}
	cost := 1 + extent(result)
	for _, argument := range arguments {
		cost += extent(argument)
	}
	return &cost
}

// extent returns the size of a value: one for ten characters of a string, or for an element of a list.
func extent(value ref.Val) uint64 {
	sized, ok := value.(traits.Sizer)
	if !ok {
		return 0
	}
	size, ok := sized.Size().(types.Int)
	if !ok || size < 0 {
		return 0
	}
	if value.Type() == types.StringType {
		return uint64(size) / 10
	}
	return uint64(size)
}

// maxExpression bounds an expression in bytes, as the API does.
const maxExpression = 4096
