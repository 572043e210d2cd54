package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

const (
	// maxListed bounds the elements of a list in a message, which is written to conditions.
	maxListed = 10
	// maxProblem bounds, in bytes, an error of CEL in a message.
	maxProblem = 400
)

// UnknownListError is returned if Criteria's Lists name lists that no source has.
type UnknownListError struct {
	// Unknown lists, sorted. Never empty.
	Unknown []string
	// Known lists of the sources, sorted.
	Known []string
}

func (e *UnknownListError) Error() string {
	lists := "list"
	if len(e.Unknown) > 1 {
		lists = "lists"
	}
	if len(e.Known) == 0 {
		return fmt.Sprintf("unknown %s %s: the sources have no lists", lists, some(e.Unknown))
	}
	var meant []string
	for _, one := range e.Unknown[:min(len(e.Unknown), maxListed)] {
		if near := spelling.Nearest(one, e.Known); len(near) > 0 {
			meant = append(meant, excerpt.Of(near[0]))
		}
	}
	advice := ""
	if len(meant) > 0 {
		advice = "did you mean " + strings.Join(slices.Compact(meant), " and ") + "? "
	}
	return fmt.Sprintf("unknown %s %s: %sthe sources have %s", lists, some(e.Unknown), advice, some(e.Known))
}

// ExpressionError is returned for an expression that is invalid, or that fails for an application.
type ExpressionError struct {
	// Line and Column in the expression, from 1; 0 when they are unknown. Columns are characters.
	Line, Column int
	// Message describes the error, without the position.
	Message string
}

func (e *ExpressionError) Error() string {
	if e.Line == 0 {
		return "expression: " + e.Message
	}
	return fmt.Sprintf("expression, line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// some lists the first of many values.
func some(values []string) string {
	return excerpt.List(values, maxListed, excerpt.Of)
}
