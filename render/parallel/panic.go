// SPDX-License-Identifier: Apache-2.0

package parallel

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of a function. Its message has no stack: people read it.
type PanicError struct {
	// Value of the panic.
	Value any
	// Stack of the goroutine, for the log.
	Stack []byte
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("a bug in Winnow: panic: %v", e.Value) }

// NewPanic returns the error for a recovered panic. A deferred function has to call it.
func NewPanic(value any) *PanicError { return &PanicError{Value: value, Stack: debug.Stack()} }

// Recover sets err to a *PanicError if the function that defers it panics.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = NewPanic(value)
	}
}

// RecoverAs sets err to a message with the value of the panic if the function that defers it panics: the parsers that others
// wrote do on some inputs, which are untrusted.
func RecoverAs(message string, err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("%s: %v", message, value)
	}
}
