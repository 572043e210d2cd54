// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// reportEarly adds the outcome of a publication to the patch that commits it, so that no second patch of the status follows.
// Only a failure of the ExternalArtifact does, and what has changed in the meantime.
//
// Ready must not become True before the ExternalArtifact names the artifact. So the outcome is reported early only where the
// last artifact is served and Ready is True for this spec: it stays True, and only its message changes. After an edit of the
// spec, and for the first artifact that is served, a second patch reports the outcome.
func (r *CatalogSelectionReconciler) reportEarly(ctx context.Context, a *attempt) error {
	cs := a.selection
	if !a.served || !isReady(cs) || a.found.Status.Withheld != "" || cs.Status.Withheld != "" {
		return nil
	}
	consumed, err := r.cluster.Kustomizations.Of(ctx, cs) // with regard to the new revision
	if err != nil {
		return err
	}
	cs.Status.Consumers = consumed.Statuses()
	o := decide(nil, cs, true)
	o.names, o.applied = a.names, consumed.Applied(consumers.RevisionOf(cs), a.next.files, cs.Spec.Patches)
	o.kept, o.pushed = conditions.Get(cs, v1alpha1.KeptCondition), conditions.Get(cs, v1alpha1.PushedCondition)
	o.sources = r.sources.Readiness(ctx, cs)
	o.report(cs)
	return nil
}
