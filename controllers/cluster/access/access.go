// SPDX-License-Identifier: Apache-2.0

// Package access connects the controller to this cluster: it has the readers and watches, the accounts of selections,
// and the warnings about missing rights. It must not know the objects that are read and written.
package access

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/kinds"
)

// Access reaches this cluster for all selections. All exported fields are required.
type Access struct {
	// APIReader reads from the API server, not from the caches.
	APIReader client.Reader
	// Events receives the events about missing rights and about moves.
	Events record.EventRecorder
	// Kinds watches definitions and Kustomizations.
	Kinds *kinds.Kinds
	// Accounts creates the clients that set marks.
	Accounts *Accounts

	// forbidden has the warnings that were sent already.
	forbidden sync.Map
}

// warning identifies a warning that is sent once for a selection.
type warning struct {
	uid         types.UID
	consequence string
}

// maxReported bounds the part of an API error in an event, in bytes.
const maxReported = 512

// ReportForbidden reports a missing right of the controller, or of the account that it impersonates, and the
// consequence, in an event and in the log, once for each selection.
func (a *Access) ReportForbidden(ctx context.Context, cs *v1alpha1.CatalogSelection, err error, consequence string) {
	if _, reported := a.forbidden.LoadOrStore(warning{cs.UID, consequence}, true); reported {
		return
	}
	message := bounds.Truncate(bounds.Truncate(err.Error(), maxReported)+": "+consequence, bounds.EventMessage)
	a.Events.Event(cs, corev1.EventTypeWarning, v1alpha1.MarksForbiddenReason, message)
	ctrl.LoggerFrom(ctx).Info("forbidden", "reason", err.Error(), "consequence", consequence)
}

// Forget deletes the warnings of a selection, so that they are sent again.
func (a *Access) Forget(uid types.UID) {
	a.forbidden.Range(func(k, _ any) bool {
		if k.(warning).uid == uid {
			a.forbidden.Delete(k)
		}
		return true
	})
}
