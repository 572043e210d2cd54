// SPDX-License-Identifier: Apache-2.0

// Package expression compiles and evaluates expressions over applications, in the Common Expression Language. fields.go
// lists what they read.
//
// It must not know what an expression decides.
package expression

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
)

const (

	// maxListed bounds the problems in a message, which is written to conditions.
	maxListed = 10
	// maxProblem bounds, in bytes, an error of CEL in a message.
	maxProblem = 400
	// costLimit bounds the evaluation for one application, in CEL's units: about one for a
	// step or for ten characters of a string. A loop over 100 versions costs about 1,000, two nested
	// loops that compare all pairs of them 80,000; a third level is refused.
	costLimit = 100_000
	// interruptEvery is the number of steps of a loop between two checks of the context.
	interruptEvery = 100
)

// Expression is a compiled expression. It is immutable and safe for concurrent use.
type Expression struct {
	ast     *cel.Ast
	program cel.Program
}

// Compile compiles an expression in the Common Expression Language over the variable app, whose
// fields the function fields lists. It must be boolean. The error is an *Error.
func Compile(source string) (*Expression, error) {
	if len(source) > maxExpression {
		return nil, &Error{Message: fmt.Sprintf("is longer than %d bytes", maxExpression)}
	}
	env, err := newEnvironment()
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	checked, issues := env.Compile(source)
	if err := issues.Err(); err != nil {
		return nil, compileError(issues.Errors())
	}
	if output := checked.OutputType(); !output.IsExactType(cel.BoolType) {
		return nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf("must be true or false, but is of the type %s", output)}
	}
	if err := checkLoops(checked); err != nil {
		return nil, err
	}
	if err := checkPatterns(checked); err != nil {
		return nil, err
	}
	program, err := env.Program(checked,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostTracking(costs{}),
		cel.CostLimit(costLimit),
		cel.InterruptCheckFrequency(interruptEvery),
	)
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	return &Expression{ast: checked, program: program}, nil
}

// checkLoops refuses loops over a map literal of the expression, because CEL iterates over those in any
// order. Only a loop can bind a map to a name, so checking what loops iterate over finds all of them.
func checkLoops(checked *cel.Ast) error {
	native := checked.NativeRep()
	loops := ast.MatchDescendants(ast.NavigateAST(native), ast.KindMatcher(ast.ComprehensionKind))
	for _, loop := range loops {
		through := ast.NavigateExpr(native, loop.AsComprehension().IterRange())
		if maps := ast.MatchSubset(append(ast.MatchDescendants(through, ast.AllMatcher()), through), ast.KindMatcher(ast.MapKind)); len(maps) > 0 {
			return (&Error{Message: "a loop cannot go through a map that the expression itself has: such a map has no order"}).
				locate(native.SourceInfo().GetStartLocation(maps[0].ID()))
		}
	}
	return nil
}

// checkPatterns refuses regular expressions that are no literals: expressions of a catalog could take all memory. The
// length of the expression bounds a literal.
func checkPatterns(checked *cel.Ast) error {
	native := checked.NativeRep()
	for _, call := range ast.MatchDescendants(ast.NavigateAST(native), ast.FunctionMatcher("matches")) {
		arguments := call.AsCall().Args()
		if pattern := arguments[len(arguments)-1]; pattern.Kind() != ast.LiteralKind {
			return (&Error{Message: "the regular expression of matches() must be written out, in quotes: what is computed is not bounded"}).
				locate(native.SourceInfo().GetStartLocation(pattern.ID()))
		}
	}
	return nil
}

// compileError returns an error with the position of the first problem. The others are in its message.
func compileError(problems []*common.Error) error {
	failed := (&Error{}).locate(problems[0].Location)
	var messages []string
	for i, problem := range problems[:min(len(problems), maxListed)] {
		message := excerpt.To(problem.Message, maxProblem)
		if i > 0 {
			other := (&Error{}).locate(problem.Location)
			message = fmt.Sprintf("line %d, column %d: %s", other.Line, other.Column, message)
		}
		messages = append(messages, message)
	}
	failed.Message = strings.Join(messages, "; ")
	return failed
}

// Holds reports whether the expression is true for an application of the source with a name. The error is an *Error, or
// the context's.
func (e *Expression) Holds(ctx context.Context, application *catalog.Application, source string) (bool, error) {
	result, _, err := e.program.ContextEval(ctx, map[string]any{variable: &record{application: application, source: source}})
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return false, e.evaluationError(application, err)
	}
	return result == types.True, nil
}

func (e *Expression) evaluationError(application *catalog.Application, err error) error {
	message := excerpt.To(err.Error(), maxProblem)
	switch {
	case strings.HasPrefix(message, "no such key"):
		message += " (has() guards keys that not every application has)"
	case strings.Contains(message, "actual cost limit exceeded"):
		message = fmt.Sprintf("it is too expensive: the limit is %d steps", costLimit)
	}
	failed := &Error{Message: fmt.Sprintf("for application %s: %s", application.Name, message)}
	if located, ok := errors.AsType[*types.Err](err); ok {
		return failed.locate(e.ast.NativeRep().SourceInfo().GetStartLocation(located.NodeID()))
	}
	return failed
}

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
