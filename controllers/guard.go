// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/holds"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// guard checks the new render against the safeguards of the spec. It returns a *holds.Error if one of them
// holds the render, and other errors are retried.
//
// The render is compared with the record of the last publication. Definitions that the selection does not publish
// yet are compared with the live objects instead, because server-side apply replaces spec.versions as a whole.
// While nothing is served, or without a record, the render is also compared with the inventories of the
// Kustomizations, because Flux prunes the objects in an inventory that the render lacks.
func (r *CatalogSelectionReconciler) guard(ctx context.Context, a *attempt) error {
	cs := a.selection
	a.useUpOutdated()
	if err := r.available(a); err != nil {
		return err
	}
	last, err := r.baseline(ctx, a)
	var lost *baselineError
	switch unknown := []safeguard.Change{{Reason: v1alpha1.BaselineLostReason}}; {
	case errors.As(err, &lost) && !a.approved(unknown):
		return a.hold(v1alpha1.BaselineLostReason, unknown, []v1alpha1.HeldReason{{
			Reason: v1alpha1.BaselineLostReason, Message: lost.Error(),
		}})
	case lost == nil && err != nil:
		return err
	}
	next := guard.Next{Selection: cs, Sources: a.guarded, Result: a.result}
	if a.isNew() {
		if next.Adopted, err = r.adopted(ctx, a, last.Definitions); err != nil {
			return err
		}
	}
	if serves, err := r.servesKnown(ctx, a); err != nil {
		return err
	} else if !serves {
		// This is the last chance: a Kustomization prunes as soon as the ExternalArtifact names an artifact.
		if next.Pruned, err = r.cluster.Effects.Pruned(ctx, a.consumers, a.result); err != nil {
			return err
		}
	}
	verdict := guard.Decide(ctx, last, next)
	if verdict.LosingEdit {
		// Wait before holding: a source of the same commit may restore what this render removes.
		if err := r.settled(ctx, a); err != nil {
			return err
		}
	}
	if a.approved(verdict.Held) {
		return nil
	}
	return a.hold(guard.MostSerious(verdict.Held), verdict.Held,
		a.toApprove().Reasons(verdict.Held, a.result.Selection, cs.Status.UsedApprovals))
}

// servesKnown reports whether the consumers have applied what the record has: something is served, and the record is of that.
// While a conflict withholds the artifact, the record is of what was served unless the status was restored, which the revisions
// that the consumers have applied tell.
func (r *CatalogSelectionReconciler) servesKnown(ctx context.Context, a *attempt) (bool, error) {
	switch {
	case a.record == nil || a.isOld() || consumers.Awaited(a.selection):
		return false, nil
	case a.selection.Status.Withheld != "":
		return a.consumers.AppliedOnly(a.record.PublishedRevisions(a.selection)), nil
	case a.served:
		return true, nil
	}
	return r.artifacts.IsAnnounced(ctx, a.selection) // not after a restore of an older status
}

// settleTimeout bounds the wait for sources: a source that fails for days must not delay an edit.
const settleTimeout = 10 * time.Minute

// settled returns an *unsettledError while sources that were edited together with the selection may still change:
// kustomize-controller applies a CatalogSelection before the sources of the same commit, and source-controller
// needs some seconds to fetch them. So the edit must be older than settleDelay, and every source, read past the
// cache, must have observed its generation and must not be reconciling.
func (r *CatalogSelectionReconciler) settled(ctx context.Context, a *attempt) error {
	now := r.now()
	age := now.Sub(r.edits.since(a.selection, now))
	if left := r.settleDelay - age; left > 0 {
		return &unsettledError{fmt.Sprintf("the edit of the spec removes applications or versions, and waits until it is %s old: "+
			"Flux may still apply sources of the same commit", r.settleDelay), left}
	}
	if age > settleTimeout {
		return nil
	}
	for _, s := range a.observed {
		if why, err := r.sources.Unsettled(ctx, s); err != nil {
			return err
		} else if why != "" {
			return &unsettledError{fmt.Sprintf("the edit of the spec removes applications or versions, and waits for the source %s %s: %s",
				s.Kind, s.Name, why), settleRetry}
		}
	}
	return nil
}

// available holds a new render while a Kustomization of this cluster would apply objects of a kind that the API server
// does not serve: it would apply nothing at all. No approval releases that.
func (r *CatalogSelectionReconciler) available(a *attempt) error {
	if !a.isNew() || !a.consumers.ActHere() {
		return nil
	}
	absent, err := r.cluster.Objects.Absent(a.result.Targets)
	if err != nil || len(absent) == 0 {
		return err
	}
	remedy := leavingOut(absent, a.result.Instances)
	reasons := make([]v1alpha1.HeldReason, len(absent))
	for i, kind := range absent {
		reasons[i] = v1alpha1.HeldReason{Reason: v1alpha1.BackendNotAvailableReason, Message: fmt.Sprintf(
			"the cluster does not serve %s, which spec.instances or spec.push.catalog needs: install what reads it first; if an instance of this selection does that, move that instance to a selection of its own%s", kind, remedy)}
	}
	return holds.New(v1alpha1.BackendNotAvailableReason, artifacts.Origin(a.observed), reasons)
}

// leavingOut returns the end of a message: the line of a spec that leaves out the instances with objects of absent kinds, and
// their backends; empty if there would be no instances left, or if no instance is left out.
func leavingOut(absent []schema.GroupVersionKind, instances []installation.Instance) string {
	var served, lacking []string
	for _, in := range instances {
		if slices.ContainsFunc(in.Objects, func(o installation.Object) bool {
			return slices.ContainsFunc(absent, func(kind schema.GroupVersionKind) bool { return kind.Group == o.Key.Group && kind.Kind == o.Key.Kind })
		}) {
			lacking = append(lacking, in.Backend)
		} else {
			served = append(served, in.Backend)
		}
	}
	served = slices.DeleteFunc(served, func(name string) bool { return slices.Contains(lacking, name) })
	if len(served) == 0 || len(lacking) == 0 {
		return ""
	}
	slices.Sort(served)
	return fmt.Sprintf("; or leave out the instances of other backends by spec.platform: {backends: [%s]}", strings.Join(slices.Compact(served), ", "))
}

// baseline returns the definitions that a new render is compared with: those of a newer publication than the status
// knows, or else those in the record of the last publication, or else those in the artifact that the ExternalArtifact or
// the status names. Before the first publication, the baseline is empty. The error is a *baselineError if there was a
// publication but neither its record (one of a newer controller, for example) nor its artifact can be read.
func (r *CatalogSelectionReconciler) baseline(ctx context.Context, a *attempt) (guard.Published, error) {
	cs := a.selection
	switch {
	case a.newer != nil && guard.Checksum(a.newer.Revision) == guard.Checksum(a.result.Revision):
		return guard.Published{Definitions: a.result.Compared()}, nil
	case a.newer != nil:
		published, err := r.artifacts.DefinitionsOf(ctx, cs, a.newer)
		if err != nil {
			return guard.Published{}, &baselineError{fmt.Errorf("%s, and %w", a.newer, err)}
		}
		return guard.Published{Definitions: published}, nil
	case a.reachedNoCluster():
		return guard.Published{}, nil
	}
	if a.record != nil {
		return a.record.Published(), nil
	}
	artifact, err := r.artifacts.Last(ctx, cs)
	switch {
	case err != nil:
		return guard.Published{}, err
	case artifact == nil && (cs.Status.WrittenRecord != nil || len(cs.Status.Published) > 0):
		return guard.Published{}, &baselineError{a.unread}
	case artifact == nil:
		return guard.Published{}, nil
	}
	published, err := r.artifacts.Definitions(ctx, cs, artifact)
	if err != nil {
		return guard.Published{}, &baselineError{fmt.Errorf("%w, and %w", a.unread, err)}
	}
	return guard.Published{Definitions: published}, nil
}

// baselineError reports that the content of the last publication is unknown.
type baselineError struct{ err error }

func (e *baselineError) Error() string {
	return "what was published last is not known, so that what this revision takes away is not known either: " + e.err.Error()
}
func (e *baselineError) Unwrap() error { return e.err }

// adopted returns the changes to live definitions that enter the artifact. While the artifact is withheld, every
// definition in it counts as entering.
func (r *CatalogSelectionReconciler) adopted(ctx context.Context, a *attempt, published []safeguard.Definition) ([]safeguard.Change, error) {
	if !a.live.MayAct(a.selection) {
		return nil, nil
	}
	if consumers.Awaited(a.selection) {
		published = nil
	}
	return r.cluster.Effects.Adopted(ctx, a.selection, published, a.result, a.live)
}

// approved reports whether the spec approves all changes.
func (a *attempt) approved(changes []safeguard.Change) bool {
	return a.toApprove().Releases(changes, guard.Unused(a.selection.Spec.Safeguards.Approve, a.selection.Status.UsedApprovals))
}

// useUpOutdated uses up the entries of the spec that name the render, or the new revision, and are outdated.
func (a *attempt) useUpOutdated() {
	status, approval := &a.selection.Status, a.toApprove()
	for _, entry := range a.record.Outdated(a.selection, a.guarded) {
		if sum := guard.Approved(entry); sum == approval.Render || sum == approval.Revision {
			status.UsedApprovals = append(status.UsedApprovals, entry)
		}
	}
}

// toApprove returns the approval that releases the render. What reached no cluster does not count as published.
func (a *attempt) toApprove() guard.Approval {
	before := a.selection.Status.Sources
	if a.reachedNoCluster() || a.isOld() {
		before = nil
	}
	approval := guard.ToApprove(before, a.guarded, a.result.Revision)
	if a.isRecreated() {
		approval.Note = guard.NoteOf(a.selection)
	}
	return approval
}

// isRecreated reports whether a Kustomization has applied an artifact of Winnow's, though nothing of this selection was
// served: it was deleted and created again, or its status is lost. Which entries of the spec are used up is not known then.
func (a *attempt) isRecreated() bool {
	isServed := a.selection.Status.Artifact != nil && !consumers.Awaited(a.selection)
	return !isServed && a.live.HaveApplied(a.selection)
}

// earlierApprovals returns the entries of the spec that a publication uses up because the status does not know which of
// them are used up already.
func (a *attempt) earlierApprovals() []string {
	if !a.isOld() && !a.isRecreated() {
		return nil
	}
	return a.selection.Spec.Safeguards.Approve
}

// hold returns the error that holds changes, which an approval releases.
func (a *attempt) hold(reason string, changes []safeguard.Change, reasons []v1alpha1.HeldReason) error {
	held := holds.New(reason, artifacts.Origin(a.observed), reasons, a.toApprove().Entry(a.selection.Status.UsedApprovals, changes...))
	if a.newer != nil {
		return held.Because(a.newer.String())
	}
	return held
}

// holdEmpty turns the error about an empty render into a hold that no approval releases.
func (a *attempt) holdEmpty(refused error) error {
	return holds.New(v1alpha1.EmptyResultReason, artifacts.Origin(a.observed), []v1alpha1.HeldReason{{
		Reason: v1alpha1.EmptyResultReason, Message: refused.Error(),
	}})
}
