// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// held returns the changes that the safeguards hold, with what releases them; nil for none.
func held(from, to *Side, verdict guard.Verdict) *diff.Held {
	h := &diff.Held{Approve: []string{}, BaseApprovals: []string{}}
	if to.Empty != nil {
		// No approval releases an empty result.
		h.Reasons = []v1alpha1.HeldReason{{Reason: v1alpha1.EmptyResultReason, Message: to.Empty.Error()}}
		return h
	}
	if len(verdict.Held) == 0 {
		return nil
	}
	entries := to.Selection.Spec.Safeguards.Approve
	approval := guard.ToApprove(from.statuses(), to.Sources, to.Result.Revision)
	h.Reasons, h.Render = approval.Reasons(verdict.Held, to.Result.Selection, to.Reviewed), approval.Render
	if h.Approved = approval.Releases(verdict.Held, guard.Unused(entries, to.Reviewed)); h.Approved {
		return h
	}
	h.Approve = []string{approval.Entry(to.Reviewed, verdict.Held...)}
	for _, entry := range entries {
		sum := guard.Approved(entry)
		if slices.Contains(to.Reviewed, entry) && (sum == approval.Render || sum == approval.Needed(verdict.Held...)) {
			h.BaseApprovals = append(h.BaseApprovals, entry)
		}
	}
	return h
}

// HoldAdopted holds also what definitions lose that to gets from another selection. A comparison with live definitions has
// it already.
func HoldAdopted(ctx context.Context, s *diff.Selection, from, to *Side, adopted []safeguard.Change) error {
	if s.Live {
		return nil
	}
	s.Held = held(from, to, guard.Decide(ctx, from.Published(), guard.Next{
		Selection: to.Selection, Sources: to.Sources, Result: to.Result, Adopted: adopted,
	}))
	return ctx.Err()
}
