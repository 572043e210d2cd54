package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster"
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
// spec.versions as a whole. Until something is served, or where there is no record, the render is also
// compared with the inventories of the Kustomizations, which delete what they have and the render lacks.
func (r *CatalogSelectionReconciler) guard(ctx context.Context, cs *v1alpha1.CatalogSelection, p *proposal) error {
	needed := toApprove(cs, p)
	approved := needed.GivenBy(guard.Unused(cs.Spec.Safeguards.Approve, cs.Status.UsedApprovals))
	last, err := r.baseline(ctx, cs, p.record)
	var lost *baselineError
	switch {
	case errors.As(err, &lost) && !approved:
		return hold(cs, p, v1alpha1.BaselineLostReason, []v1alpha1.HeldReason{{
			Reason: v1alpha1.BaselineLostReason, Message: lost.Error(),
		}})
	case lost == nil && err != nil:
		return err
	}
	next := guard.Next{Selection: cs, Sources: guardSources(p.loaded), Result: p.result}
	if p.result.Revision != cluster.RevisionOf(cs) || cs.Status.Withheld != "" {
		if next.Adopted, err = r.adopted(ctx, cs, p, last.Definitions); err != nil {
			return err
		}
	}
	if p.record == nil || cluster.AwaitsConsumer(cs) {
		// Not later: a Kustomization that finds an artifact prunes, whatever is held of the next one.
		if next.Pruned, err = r.Cluster.Pruned(ctx, p.around.Consumers, p.result.Definitions); err != nil {
			return fail(v1alpha1.StorageFailedReason, err)
		}
	}
	verdict := guard.Decide(ctx, last, next)
	if verdict.LosingEdit {
		// Before it is held: what follows may bring back what is lost.
		if err := r.settled(ctx, cs, p.observed); err != nil {
			return err
		}
	}
	if len(verdict.Held) > 0 && !approved {
		return hold(cs, p, guard.MostSerious(verdict.Held), heldReasons(verdict.Held, p.result.Selection))
	}
	return nil
}

// toApprove returns what releases a render. What was withheld until now was not published.
func toApprove(cs *v1alpha1.CatalogSelection, p *proposal) guard.Approval {
	before := cs.Status.Sources
	if cluster.AwaitsConsumer(cs) {
		before = nil
	}
	return guard.ToApprove(before, guardSources(p.loaded), p.result.Revision)
}

// adopted returns what live definitions lose that enter the artifact. While it is withheld, all that
// it has enters.
func (r *CatalogSelectionReconciler) adopted(ctx context.Context, cs *v1alpha1.CatalogSelection, p *proposal,
	published []safeguard.Definition) ([]safeguard.Change, error) {
	if !p.around.MayAct(cs) {
		return nil, nil
	}
	if cluster.AwaitsConsumer(cs) {
		published = nil
	}
	adopted, err := r.Cluster.Adopted(ctx, cs, published, p.result, p.around)
	return adopted, fail(v1alpha1.StorageFailedReason, err)
}

// holdError says that a safeguard holds a render.
type holdError struct {
	reason string
	status v1alpha1.HeldStatus
}

// Reason is the reason of the condition Held.
func (h *holdError) Reason() string { return h.reason }

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
		part = bounds.Truncate(part, max(room-used, room/10))
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

// Bounds of status.held: the bytes of a version of a reason, and the lines that all reasons take when
// kubectl describes them.
const (
	maxHeldVersionBytes = 64
	maxHeldLines        = 200
)

// boundReasons returns as many reasons as the status has room for.
func boundReasons(reasons []v1alpha1.HeldReason) []v1alpha1.HeldReason {
	room := maxHeldLines
	for i, reason := range reasons {
		for j, version := range reason.Versions {
			reason.Versions[j] = bounds.Truncate(version, maxHeldVersionBytes)
		}
		if room -= linesOf([]string{reason.Application, reason.Message, reason.Reason}, reason.Versions); room < 0 {
			return reasons[:i]
		}
	}
	return reasons
}

func hold(cs *v1alpha1.CatalogSelection, p *proposal, reason string, reasons []v1alpha1.HeldReason) error {
	status := v1alpha1.HeldStatus{
		Revision: originMetadata(p.observed)[originRevision],
		Total:    bounds.Count(len(reasons)),
		Reasons:  boundReasons(reasons),
	}
	if p.result != nil {
		status.Approve = toApprove(cs, p).Lines(cs.Status.UsedApprovals)
	}
	return &holdError{reason: reason, status: status}
}

// holdEmpty turns the refusal of an empty render into a hold, which nothing releases; other errors stay
// as they are.
func holdEmpty(cs *v1alpha1.CatalogSelection, p *proposal, err error) error {
	var refused *render.Error
	if !errors.As(err, &refused) || refused.Reason() != v1alpha1.EmptyResultReason {
		return err
	}
	return hold(cs, p, refused.Reason(), []v1alpha1.HeldReason{{
		Reason: refused.Reason(), Message: bounds.Truncate(refused.Error(), bounds.EventMessage),
	}})
}

// heldReasons returns the reasons with messages as the status may have them.
func heldReasons(changes []safeguard.Change, decided selection.Result) []v1alpha1.HeldReason {
	reasons := guard.Reasons(changes, decided)
	for i := range reasons {
		reasons[i].Message = bounds.Truncate(reasons[i].Message, bounds.EventMessage)
	}
	return reasons
}

func guardSources(loaded []loadedSource) []guard.Source {
	sources := make([]guard.Source, len(loaded))
	for i, l := range loaded {
		sources[i] = guard.Source{
			Kind: l.kind, Name: l.name, Path: l.path, Checksum: guard.Checksum(l.artifact.Revision),
			Digest: l.artifact.Digest, Catalog: l.catalog,
		}
	}
	return sources
}
