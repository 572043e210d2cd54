// Package failure gives errors the reason by which conditions and events report them. It must not know
// what a reason means for the status and for the queue: package controllers decides that.
package failure

import (
	"errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// failure is an error of a step of the reconciliation with the reason that it is reported by.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string  { return f.err.Error() }
func (f *failure) Unwrap() error  { return f.err }
func (f *failure) Reason() string { return f.reason }

// reasoner is an error that knows its reason.
type reasoner interface {
	error
	Reason() string
}

// Because gives err a reason, unless it has one already; nil stays nil.
func Because(reason string, err error) error {
	if _, known := lookup(err); err == nil || known {
		return err
	}
	return Override(reason, err)
}

// Override gives err a reason in place of any other that it has.
func Override(reason string, err error) error { return &failure{reason: reason, err: err} }

// ReasonOf returns the reason of an error of a step, StorageFailed for an error without one: what has no
// reason is a failure of the API server or of the storage.
func ReasonOf(err error) string {
	if reason, known := lookup(err); known {
		return reason
	}
	return v1alpha1.StorageFailedReason
}

func lookup(err error) (reason string, known bool) {
	var reasoned reasoner
	if errors.As(err, &reasoned) {
		return reasoned.Reason(), true
	}
	return "", false
}
