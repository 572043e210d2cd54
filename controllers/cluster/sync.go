// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Observe reads the live state after an attempt to publish a selection. isOld is true if its status is older than what was published, and
// published are the definitions in the artifact of the status, nil if they are not known.
func (c *Cluster) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection, isOld bool, published []safeguard.Definition) (*live.State, error) {
	consumed, err := c.Kustomizations.Of(ctx, cs)
	if err != nil {
		return nil, fmt.Errorf("finding the Kustomizations of the artifact: %w", err)
	}
	return c.Objects.Observe(ctx, cs, consumed, isOld, published)
}

// moveInterval is the interval at which an unfinished move is checked again.
const moveInterval = 5 * time.Second

// maxBypassed bounds status.bypassed, in names of at most 253 bytes.
const maxBypassed = 100

// appliedBy returns what the consumers of this cluster have applied: a change of it may begin or end a conflict with others.
func appliedBy(consumed consumers.Consumers) string {
	var applied strings.Builder
	for _, item := range consumed.Local() {
		fmt.Fprintf(&applied, "%s=%s,", item.Key(), item.Revision)
	}
	return applied.String()
}

// SyncMarks sets and removes the marks that the published definitions require, whether or not the publication
// is new, and writes its findings into the status. state is the result of Observe. requeueAfter is zero if no
// move is unfinished, and no object waits for one. Errors are temporary.
func (c *Cluster) SyncMarks(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) (requeueAfter time.Duration, err error) {
	cs.Status.Consumers = state.Consumers.Statuses()
	now := appliedBy(state.Consumers)
	if last, _ := c.applied.Swap(cs.UID, now); last != now && (last != nil || now != "") {
		c.Kinds.Enqueue(ctx, c.Holders.Rivals(ctx, cs)...)
	}
	bypassed, err := c.Marks.SyncBypass(ctx, cs, state)
	if err != nil {
		return 0, err
	}
	moving, err := c.Marks.EndMoves(ctx, cs, state)
	if err != nil {
		return 0, err
	}
	unmanaged, err := c.Marks.SyncUnmanaged(ctx, cs, state)
	if err != nil {
		return 0, err
	}
	c.Objects.Keep(cs, state)
	slices.Sort(bypassed)
	cs.Status.Bypassed = bypassed[:min(len(bypassed), maxBypassed)]
	if cs.Status.Summary != nil {
		cs.Status.Summary.Bypassed = bounds.Count(len(bypassed))
		cs.Status.Summary.Unmanaged = bounds.Count(unmanaged)
	}
	if moving {
		return moveInterval, nil
	}
	return 0, nil
}
