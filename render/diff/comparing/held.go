// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Hold sets what the safeguards hold of a change, with what definitions lose that the newer state adopts, from another selection or
// from the cluster. It returns all that the safeguards have found, held or not.
func Hold(ctx context.Context, out *diff.Selection, from, to *Side, adopted []safeguard.Change) []safeguard.Change {
	verdict := decide(from, to, adopted)
	if out.Change == diff.Unchanged && to.Empty == nil {
		return verdict.Changes
	}
	out.Held = held(from, to, verdict)
	if out.IsHeld() && to.Subject == Selection {
		out.Held.SecondSources = secondSources(ctx, from, to, slices.Concat(verdict.Held, verdict.BaseApproved))
	}
	return verdict.Changes
}

// decide compares two states as the controller does, with the lines that the newer one adds. Either may be nil, and live are
// the losses of live objects.
func decide(from, to *Side, live []safeguard.Change) guard.Verdict {
	var named guard.Named
	if to.Selection != nil {
		named = guard.NamedBy(to.Selection, to.Result.Instances)
	}
	for _, entry := range to.Lines {
		line, err := approval.Parse(entry)
		switch {
		case err != nil:
		case slices.Contains(from.reviewed(), entry):
			named.Base = append(named.Base, line)
		default:
			named.Lines = append(named.Lines, line)
		}
	}
	next := guard.Next{Definitions: to.Result.Compared(), Unresolved: to.Result.Unresolved, Live: live}
	return guard.Decide(from.Published(), next, named)
}

// held returns what a verdict holds, with the lines that name it; nil for nothing.
func held(from, to *Side, verdict guard.Verdict) *diff.Held {
	h := &diff.Held{Approve: []string{}, BaseApprovals: []string{}, Approved: verdict.Approved()}
	if to.Empty != nil && len(from.Published()) == 0 {
		// Nothing is lost, and an empty first publication is an error.
		h.Reasons = []v1alpha1.HeldReason{{Reason: v1alpha1.EmptyResultReason, Message: to.Empty.Error()}}
		return h
	}
	fresh := guard.Fresh(approval.ParseAll(slices.Concat(to.Lines, from.reviewed())))
	left := slices.Concat(verdict.Held, verdict.BaseApproved)
	switch {
	case h.Approved:
		h.Reasons = guard.Reasons(verdict.Named, to.Result.Selection, guard.Fresh(nil))
	case len(left) == 0:
		return nil
	default:
		h.Reasons = guard.Reasons(left, to.Result.Selection, fresh)
		if to.Subject != Catalog {
			h.Approve = guard.LinesOf(left, fresh)
		}
	}
	for _, entry := range from.reviewed() {
		if line, err := approval.Parse(entry); err == nil && guard.NamesAny(line, verdict.BaseApproved) {
			h.BaseApprovals = append(h.BaseApprovals, entry)
		}
	}
	return h
}
