package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
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
	published, err := definitionsOf(cs)
	if err != nil && approved(cs, loaded) {
		return nil
	}
	if err != nil {
		return r.hold(cs, loaded, v1alpha1.BaselineLostReason, []v1alpha1.HeldReason{{
			Reason:  v1alpha1.BaselineLostReason,
			Message: "what was published last is not known, so that nobody can say what this revision takes away: " + err.Error(),
		}})
	}
	changes := safeguard.Compare(published, result.Definitions)
	if len(changes) > 0 {
		changes = r.byCatalog(ctx, cs, changes, loaded, result.Selection)
	}
	if around.consumed.mayActHere() {
		adopted, err := r.adopt(ctx, cs, published, result.Definitions, around)
		if err != nil {
			return err
		}
		changes = append(changes, adopted...)
	}
	changes = slices.DeleteFunc(changes, func(c safeguard.Change) bool { return !holds(cs.Spec.Safeguards, c.Reason) })
	if len(changes) == 0 || approved(cs, loaded) {
		return nil
	}
	return r.hold(cs, loaded, mostSerious(changes), heldReasons(changes, result.Selection))
}

// holds says whether a safeguard holds changes with the reason. What the API server defaults may
// be empty, in a spec that it has not seen.
func holds(s v1alpha1.Safeguards, reason string) bool {
	switch reason {
	case v1alpha1.RemovalReason:
		return s.OnRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.VersionRemovalReason, v1alpha1.AdoptionReason:
		return s.OnVersionRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.MajorUpgradeReason:
		return s.OnMajorUpgrade == v1alpha1.SafeguardHold
	}
	return true
}

func (l loadedSource) source() selection.Source {
	return selection.Source{Name: l.name.Name, Digest: checksum(l.artifact.Revision), Catalog: l.catalog}
}

// toApprove returns the checksums of the source revisions that have to be approved: of the sources
// that changed since the last publication, or of all when none did.
func toApprove(cs *v1alpha1.CatalogSelection, loaded []loadedSource) []string {
	var changed, all []string
	for _, l := range loaded {
		sum := checksum(l.artifact.Revision)
		all = append(all, sum)
		same := slices.ContainsFunc(cs.Status.Sources, func(s v1alpha1.SourceStatus) bool {
			return s.Kind == l.kind && s.Namespace == l.name.Namespace && s.Name == l.name.Name &&
				checksum(s.Revision) == sum && s.Digest == l.artifact.Digest
		})
		if !same {
			changed = append(changed, sum)
		}
	}
	if len(changed) == 0 {
		changed = all
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

func approved(cs *v1alpha1.CatalogSelection, loaded []loadedSource) bool {
	return !slices.ContainsFunc(toApprove(cs, loaded), func(sum string) bool {
		return !slices.Contains(cs.Spec.Safeguards.Approve, sum)
	})
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

// Bounds of status.held: its reasons, the versions of one and the bytes of one of those, and the
// bytes of all reasons.
const (
	maxHeldReasons      = 100
	maxHeldVersions     = 20
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
		status.Approve = toApprove(cs, loaded)
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

// mostSerious returns the reason of the condition for several changes.
func mostSerious(changes []safeguard.Change) string {
	for _, reason := range []string{v1alpha1.RemovalReason, v1alpha1.VersionRemovalReason, v1alpha1.AdoptionReason} {
		if slices.ContainsFunc(changes, func(c safeguard.Change) bool { return c.Reason == reason }) {
			return reason
		}
	}
	return v1alpha1.MajorUpgradeReason
}

func heldReasons(changes []safeguard.Change, decided selection.Result) []v1alpha1.HeldReason {
	reasons := make([]v1alpha1.HeldReason, 0, len(changes))
	for _, c := range changes {
		reasons = append(reasons, v1alpha1.HeldReason{
			Reason: c.Reason, Application: c.Key.Name,
			Versions: slices.Clone(c.Versions[:min(len(c.Versions), maxHeldVersions)]),
			Message:  truncate(describe(c, decided), maxEventMessage),
		})
	}
	return reasons
}

// describe says for people what changes, and why an application is gone.
func describe(c safeguard.Change, decided selection.Result) string {
	versions := some(c.Versions)
	switch c.Reason {
	case v1alpha1.RemovalReason:
		return "would be removed, because " + whyGone(c.Key, decided)
	case v1alpha1.AdoptionReason:
		if len(c.Versions) == 0 {
			return "lives in the cluster, where the platform itself reconciles it"
		}
		return "lives in the cluster with versions that would be removed: " + versions
	case v1alpha1.MajorUpgradeReason:
		return fmt.Sprintf("would rise from %s to %s", c.From, c.To)
	}
	return "versions would be removed: " + versions
}

func whyGone(key safeguard.Key, decided selection.Result) string {
	for _, d := range decided.Decisions {
		a := d.Application
		if a.Name == key.Name && a.Group == key.Group && a.Kind == key.Kind {
			return d.Reason
		}
	}
	return "no source has it"
}

// some lists the first strings, and how many more there are.
func some(list []string) string {
	if more := len(list) - maxHeldVersions; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxHeldVersions], ", "), more)
	}
	return strings.Join(list, ", ")
}
