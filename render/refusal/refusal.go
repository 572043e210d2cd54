// SPDX-License-Identifier: Apache-2.0

// Package refusal describes an input that cannot be rendered, and what is wrong with it. Of the packages that read
// inputs it must know only the errors.
package refusal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/parallel"
)

// Error is returned for an input that cannot be rendered. It is permanent: the same input fails in the
// same way. Errors of another type come from the reader or the context, and may be temporary.
type Error struct {
	// Code is the reason of api/v1alpha1 that Reason returns: InvalidArchive, InvalidCatalog,
	// InvalidSpec or EmptyResult.
	Code string
	// Source is the name of the invalid source, or empty.
	Source string
	// Field is the path of the invalid field of the CatalogSelection, or empty.
	Field string
	// Err is the cause.
	Err error
}

// Error returns the message of the cause, after its source or field.
func (e *Error) Error() string {
	switch {
	case e.Source != "":
		return "source " + e.Source + ": " + e.Err.Error()
	case e.Field != "":
		return e.Field + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

// Reason returns the reason of the condition that reports the error.
func (e *Error) Reason() string { return e.Code }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Classify turns the typed errors of the packages below into an Error of the named source.
func Classify(source string, err error) error {
	var badArchive *archive.Error
	var badCatalog *violation.InvalidError
	var panicked *parallel.PanicError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &badArchive):
		return &Error{Code: v1alpha1.InvalidArchiveReason, Source: source, Err: err}
	case errors.As(err, &badCatalog), errors.As(err, &panicked):
		return &Error{Code: v1alpha1.InvalidCatalogReason, Source: source, Err: err}
	}
	return err
}

// Recover turns a panic of the function that defers it into an Error of the named source, which may be empty, with what
// the function does: a bug that one catalog triggers must not end the process, in which others are rendered.
func Recover(source, doing string, err *error) {
	if value := recover(); value != nil {
		*err = Classify(source, fmt.Errorf("%s: %w", doing, parallel.NewPanic(value)))
	}
}

// OfSpec returns an Error of errors about a field of the spec; nil without any.
func OfSpec(field string, errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return &Error{Code: v1alpha1.InvalidSpecReason, Field: field, Err: Join(errs)}
}

// Join joins the first errors and states how many more there are.
func Join(errs []error) error {
	return errors.Join(excerpt.First(errs, MaxListed, 0, func(more int) error { return errors.New(excerpt.More(more)) })...)
}

// MaxListed bounds how many applications, objects or hosts an error lists.
const MaxListed = 20

// Flat returns the errors that an error joins.
func Flat(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	return slices.Concat(each.Map(joined.Unwrap(), Flat)...)
}
