// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"

	"github.com/google/cel-go/common"
)

// Error is returned for an expression that is invalid, or that fails for an application.
type Error struct {
	// Line and Column in the expression, from 1; 0 when they are unknown. Columns are characters.
	Line, Column int
	// Message describes the error, without the position.
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return "expression: " + e.Message
	}
	return fmt.Sprintf("expression, line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// locate sets the position, with columns from 1. CEL counts them from 0, or from -1 for an empty expression.
func (e *Error) locate(location common.Location) *Error {
	if location.Line() > 0 {
		e.Line, e.Column = location.Line(), max(location.Column(), 0)+1
	}
	return e
}
