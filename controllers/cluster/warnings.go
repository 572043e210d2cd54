package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
)

// warning identifies a warning that is sent once for a selection.
type warning struct {
	uid         types.UID
	consequence string
}

// maxReported bounds the part of an API error in an event, in bytes.
const maxReported = 512

// reportForbidden reports a missing right of the controller, or of the account that it impersonates, and the
// consequence, by an event and in the log, once for each selection.
func (c *Cluster) reportForbidden(ctx context.Context, cs *v1alpha1.CatalogSelection, err error, consequence string) {
	if _, reported := c.forbidden.LoadOrStore(warning{cs.UID, consequence}, true); reported {
		return
	}
	message := bounds.Truncate(bounds.Truncate(err.Error(), maxReported)+": "+consequence, bounds.EventMessage)
	c.Events.Event(cs, corev1.EventTypeWarning, v1alpha1.MarksForbiddenReason, message)
	ctrl.LoggerFrom(ctx).Info("forbidden", "reason", err.Error(), "consequence", consequence)
}
