// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
)

// conflictDelay is the delay before a selection is reconciled again after a conflict with another client.
const conflictDelay = 200 * time.Millisecond

// isConflict reports whether err means that the cache was behind the API server: another client has changed or
// created the object.
func isConflict(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// retryConflict requeues after a conflict without an error, because conflicts are normal and not worth a log line.
func retryConflict(err error) (ctrl.Result, error) {
	if isConflict(err) {
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	}
	return ctrl.Result{}, err
}
