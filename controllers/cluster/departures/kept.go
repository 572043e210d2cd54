// SPDX-License-Identifier: Apache-2.0

package departures

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
)

// Kept returns the condition Kept without its type; nil if nothing is kept. state is the result of Observe.
func (ds *Departures) Kept(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) *metav1.Condition {
	const listed = 10
	served, placed := ds.Claims.Served(ctx, cs), leaving.Placeholders(cs)
	var parts []string
	for _, entry := range leaving.InArtifact(cs) {
		parts = append(parts, leaving.Describe(entry, ds.Now()))
	}
	var marked []string
	for _, object := range state.Live {
		mine := guard.AppliedBy(cs, object) || state.Consumers.Include(guard.OwnerOf(object))
		if key := guard.LiveKey(object); guard.Owns(object, guard.PruneAnnotation) && mine && served != nil && !served[key] && !placed[key] {
			marked = append(marked, key.FullName())
		}
	}
	if len(marked) > 0 {
		slices.Sort(marked)
		parts = append(parts, fmt.Sprintf("no CatalogSelection has applied %s yet, kept in the cluster with a mark: delete by hand the objects that are not needed",
			excerpt.Names(marked, listed)))
	}
	if len(parts) == 0 {
		return nil
	}
	message := bounds.Truncate(excerpt.Clauses(parts, listed, 0, strings.Clone), bounds.ConditionMessage)
	return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.HandoverReason, Message: message}
}
