// SPDX-License-Identifier: Apache-2.0

// Package failure attaches to errors the reason that conditions and events report. It must not know the
// effect of a reason on the status and the queue: package controllers decides that.
package failure

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// failure is an error of a step of the reconciliation with its reason.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string  { return f.err.Error() }
func (f *failure) Unwrap() error  { return f.err }
func (f *failure) Reason() string { return f.reason }

// WaitingError reports that a selection waits, for its sources to be loaded or for a slot. It is enqueued when the wait ends.
type WaitingError struct {
	Since   time.Time
	Message string
}

// Reason is the reason of the condition.
func (e *WaitingError) Reason() string { return v1alpha1.ProgressingReason }

func (e *WaitingError) Error() string { return e.Message }

// reasoner is an error with a reason.
type reasoner interface {
	error
	Reason() string
}

// Because attaches a reason to err, unless it has one already; nil stays nil.
func Because(reason string, err error) error {
	if _, known := lookup(err); err == nil || known {
		return err
	}
	return Override(reason, err)
}

// Override attaches a reason to err that replaces any other.
func Override(reason string, err error) error { return &failure{reason: reason, err: err} }

// Conflict returns the error of an optimistic lock on a CatalogSelection, for a change that no lock finds.
func Conflict(cs *v1alpha1.CatalogSelection, why error) error {
	return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("catalogselections").GroupResource(), cs.Name, why)
}

// ReasonOf returns the reason of an error of a step, and StorageFailed for an error without one: steps attach no reason
// to failures of the API server and of the storage.
func ReasonOf(err error) string {
	if reason, known := lookup(err); known {
		return reason
	}
	return v1alpha1.StorageFailedReason
}

func lookup(err error) (reason string, known bool) {
	if reasoned, ok := errors.AsType[reasoner](err); ok {
		return reasoned.Reason(), true
	}
	return "", false
}
