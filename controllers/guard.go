package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// loadedSource is a source with its catalog.
type loadedSource struct {
	observedSource
	catalog *catalog.Catalog
}

// guard holds what the new render would take away, by the safeguards of the spec. The error is a
// *holdError, or one that is worth another try.
//
// What is compared with: the record of the last publication. What the selection does not publish
// yet is compared with what lives in the cluster instead, because server-side apply replaces
// spec.versions as a whole.
func (r *CatalogSelectionReconciler) guard(ctx context.Context, cs *v1alpha1.CatalogSelection, result *render.Result,
	loaded []loadedSource, around surroundings) error {
	if result.Revision == revisionOf(cs) {
		return nil
	}
	last, err := r.lastPublished(cs)
	if err != nil && approved(cs, loaded) {
		return nil
	}
	if err != nil {
		return r.hold(cs, loaded, v1alpha1.BaselineLostReason, []v1alpha1.HeldReason{{
			Reason:  v1alpha1.BaselineLostReason,
			Message: "what was published last is not known, so that nobody can say what this revision takes away: " + err.Error(),
		}})
	}
	next := guard.Next{Selection: cs, Sources: guardSources(loaded), Result: result}
	if around.consumed.mayActHere() {
		if next.Adopted, err = r.adopt(ctx, cs, last.Definitions, result, around); err != nil {
			return err
		}
	}
	held := guard.Decide(ctx, last, next).Held
	if len(held) == 0 || approved(cs, loaded) {
		return nil
	}
	return r.hold(cs, loaded, guard.MostSerious(held), heldReasons(held, result.Selection))
}

// toApprove returns the sources whose revisions have to be approved: those that changed since the
// last publication, or all when none did.
func toApprove(cs *v1alpha1.CatalogSelection, loaded []loadedSource) []guard.Source {
	return guard.ToApprove(cs.Status.Sources, guardSources(loaded))
}

func approved(cs *v1alpha1.CatalogSelection, loaded []loadedSource) bool {
	return guard.Approved(cs.Spec.Safeguards, toApprove(cs, loaded))
}

// holdError says that a safeguard holds a render.
type holdError struct {
	reason string
	status v1alpha1.HeldStatus
}

// Error returns the message of the condition Held.
func (h *holdError) Error() string {
	// So short that an event has room for how to release it.
	const listed, room = 10, 600
	var parts []string
	for used := 0; len(parts) < min(len(h.status.Reasons), listed) && used < room; {
		reason := h.status.Reasons[len(parts)]
		part := reason.Message
		if reason.Application != "" {
			part = reason.Application + ": " + part
		}
		part = truncate(part, max(room-used, room/10))
		used += len(part)
		parts = append(parts, part)
	}
	message := strings.Join(parts, "; ")
	if more := int(h.status.Total) - len(parts); more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	if len(h.status.Approve) > 0 {
		message += "; to publish it all the same, add to spec.safeguards.approve: " + strings.Join(h.status.Approve, ", ")
	}
	return message
}

// Bounds of status.held: its reasons, the bytes of a version of one, and the bytes of all reasons.
const (
	maxHeldReasons      = 100
	maxHeldVersionBytes = 64
	maxHeldBytes        = 64 << 10
)

// boundReasons returns as many reasons as the status has room for.
func boundReasons(reasons []v1alpha1.HeldReason) []v1alpha1.HeldReason {
	budget := maxHeldBytes
	for i, reason := range reasons[:min(len(reasons), maxHeldReasons)] {
		budget -= len(reason.Application) + len(reason.Message)
		for j, version := range reason.Versions {
			reason.Versions[j] = truncate(version, maxHeldVersionBytes)
			budget -= len(reason.Versions[j])
		}
		if budget < 0 {
			return reasons[:i]
		}
	}
	return reasons[:min(len(reasons), maxHeldReasons)]
}

func (r *CatalogSelectionReconciler) hold(cs *v1alpha1.CatalogSelection, loaded []loadedSource, reason string, reasons []v1alpha1.HeldReason) error {
	observed := make([]observedSource, len(loaded))
	for i, l := range loaded {
		observed[i] = l.observedSource
	}
	status := v1alpha1.HeldStatus{
		Revision: originMetadata(observed)[originRevision],
		Total:    count(len(reasons)),
		Reasons:  boundReasons(reasons),
	}
	if reason != v1alpha1.EmptyResultReason {
		status.Approve = guard.Checksums(toApprove(cs, loaded))
	}
	return &holdError{reason: reason, status: status}
}

// holdEmpty turns the refusal of an empty render into a hold; other errors stay as they are.
func (r *CatalogSelectionReconciler) holdEmpty(cs *v1alpha1.CatalogSelection, loaded []loadedSource, err error) error {
	var refused *render.Error
	if !errors.As(err, &refused) || refused.Reason != v1alpha1.EmptyResultReason {
		return err
	}
	return r.hold(cs, loaded, refused.Reason, []v1alpha1.HeldReason{{
		Reason: refused.Reason, Message: truncate(refused.Error(), maxEventMessage),
	}})
}

// heldReasons returns the reasons with messages as the status may have them.
func heldReasons(changes []safeguard.Change, decided selection.Result) []v1alpha1.HeldReason {
	reasons := guard.Reasons(changes, decided)
	for i := range reasons {
		reasons[i].Message = truncate(reasons[i].Message, maxEventMessage)
	}
	return reasons
}
