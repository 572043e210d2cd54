// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/approvals"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/departures"
	"github.com/winnow-dev/winnow/controllers/holds"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/each"
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
	a.uses = nil
	r.seeApprovals(a)
	named := guard.NamedBy(cs, a.result.Instances)
	named.Lines = approvals.Counting(cs, r.now())
	last, err := r.baseline(ctx, a)
	if lost, ok := errors.AsType[*baselineError](err); ok {
		err = r.holdUnknown(a, lost, named.Lines)
	}
	if err != nil {
		return err
	}
	next := guard.Next{Definitions: a.result.Compared(), Unresolved: a.result.Unresolved}
	if next.Live, err = r.losesLive(ctx, a, last); err != nil {
		return err
	}
	verdict := guard.Decide(last, next, named)
	a.uses = append(a.uses, verdict.Uses...)
	a.noteUnmatchedLines(last)
	if len(verdict.Held) > 0 {
		reasons := guard.Reasons(verdict.Held, a.result.Selection, a.numbered())
		return r.hold(a, verdict.Held[0].Reason, reasons, guard.LinesOf(verdict.Held, a.numbered()))
	}
	if err := r.available(a); err != nil {
		return err
	}
	if cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyDelete && slices.ContainsFunc(verdict.Changes, safeguard.Change.Loses) {
		// another selection may be about to claim it, by the same commit or the same revision of a source
		return r.settled(r.edits.settling(cs, artifacts.Origin(a.observed), r.now()), "what this selection gives up would be deleted")
	}
	return nil
}

// seeApprovals notes the lines of the spec. With a publication that the status does not know they are used.
func (r *CatalogSelectionReconciler) seeApprovals(a *attempt) {
	status, unknown := &a.selection.Status, a.selection.Status.ApprovalsRead
	switch {
	case a.newer != nil:
		unknown = a.newer.Publication()
	case a.behind || a.isRecreated():
		unknown = "applied: " + a.consumers.State()
	}
	status.Approvals = approvals.UseAll(approvals.See(a.selection, r.now()), status.ApprovalsRead, unknown, r.now())
	status.ApprovalsRead = unknown
}

// holdUnknown holds a render whose baseline is lost. Only the checksum of the render releases it: what leaves has no name.
func (r *CatalogSelectionReconciler) holdUnknown(a *attempt, lost error, lines []approval.Line) error {
	exact := approval.Line{Checksum: guard.Checksum(a.result.Revision)}
	if i := slices.IndexFunc(lines, func(line approval.Line) bool { return line.Names(exact) }); i >= 0 {
		a.uses = append(a.uses, lines[i])
		return nil
	}
	line := a.numbered()(exact).String()
	return r.hold(a, v1alpha1.BaselineLostReason, []v1alpha1.HeldReason{{
		Reason: v1alpha1.BaselineLostReason, Message: lost.Error(), Approve: []string{line},
	}}, []string{line})
}

// losesLive returns the losses of live objects, and of objects in inventories, that the selection has not published.
func (r *CatalogSelectionReconciler) losesLive(ctx context.Context, a *attempt, last []safeguard.Definition) (losses []safeguard.Change, err error) {
	if a.isNew() && a.live.MayAct(a.selection) {
		published := last
		if consumers.Awaited(a.selection) { // every definition in the artifact counts as entering
			published = nil
		}
		if losses, err = r.cluster.Effects.Adopted(ctx, a.selection, published, a.result, a.live); err != nil {
			return nil, err
		}
	}
	if serves, err := r.servesKnown(ctx, a); serves || err != nil {
		return losses, err
	}
	// This is the last chance: a Kustomization prunes as soon as the ExternalArtifact names an artifact.
	pruned, err := r.cluster.Effects.Pruned(ctx, a.consumers, a.result)
	return append(losses, pruned...), err
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

// settled returns an *unsettledError while what was seen first at a time is younger than settleDelay: Flux may still apply parts of
// the same commit, and kustomize-controller applies a CatalogSelection before its sources.
func (r *CatalogSelectionReconciler) settled(since time.Time, why string) error {
	if left := r.settleDelay - r.now().Sub(since); left > 0 {
		return &unsettledError{fmt.Sprintf("%s: it waits until the change is %s old, because Flux may still apply parts of the same commit",
			why, r.settleDelay), left}
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
	reasons := each.Map(absent, func(kind schema.GroupVersionKind) v1alpha1.HeldReason {
		return v1alpha1.HeldReason{Reason: v1alpha1.BackendNotAvailableReason, Message: fmt.Sprintf(
			"the cluster does not serve %s, which spec.instances or spec.push.catalog needs: install what reads it first; if an instance of this selection does that, move that instance to a selection of its own%s", kind, remedy)}
	})
	return a.held(v1alpha1.BackendNotAvailableReason, reasons)
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

// baseline returns the definitions that a new render is compared with. They come from a newer publication than the
// status knows, or else the record of the last publication, or else the artifact that the ExternalArtifact or the status
// names. Before the first publication, the baseline is empty. The error is a *baselineError if there was a publication
// but neither its record (one of a newer controller, for example) nor its artifact can be read.
func (r *CatalogSelectionReconciler) baseline(ctx context.Context, a *attempt) ([]safeguard.Definition, error) {
	cs := a.selection
	switch {
	case a.newer != nil && guard.Checksum(a.newer.Revision) == guard.Checksum(a.result.Revision):
		return a.result.Compared(), nil
	case a.newer != nil && a.record != nil && guard.Checksum(a.newer.Revision) == guard.Checksum(a.record.PublishedRevisions(cs)[0]):
		return r.recorded(ctx, a)
	case a.newer != nil:
		published, err := r.artifacts.DefinitionsOf(ctx, cs, a.newer)
		if err != nil {
			return nil, &baselineError{fmt.Errorf("%s, and %w", a.newer, err)}
		}
		return published, nil
	case a.reachedNoCluster():
		return nil, nil
	case a.record != nil:
		return r.recorded(ctx, a)
	}
	artifact, err := r.artifacts.Last(ctx, cs)
	switch {
	case err != nil:
		return nil, err
	case artifact == nil && cs.Status.WrittenRecord != nil:
		return nil, &baselineError{a.unread}
	case artifact == nil:
		return nil, nil
	}
	published, err := r.artifacts.Definitions(ctx, cs, artifact)
	if err != nil {
		return nil, &baselineError{fmt.Errorf("%w, and %w", a.unread, err)}
	}
	return published, nil
}

// recorded returns the definitions in the record. Its digests of origins are short if the safeguards did not hold their changes at
// that time, or if it would be too large: those in the artifact count then.
func (r *CatalogSelectionReconciler) recorded(ctx context.Context, a *attempt) ([]safeguard.Definition, error) {
	published := a.record.Published()
	if a.selection.Spec.Safeguards.OnSourceChange != v1alpha1.SafeguardHold || a.record.HasOrigins() {
		return published, nil
	}
	artifact, err := r.artifacts.Last(ctx, a.selection)
	if err != nil || artifact == nil {
		return published, err
	}
	archived, err := r.artifacts.Definitions(ctx, a.selection, artifact)
	if err != nil {
		return nil, &baselineError{fmt.Errorf("spec.safeguards.onSourceChange compares more than the record has, and %w", err)}
	}
	all := safeguard.ByKey(archived)
	published = slices.Clone(published)
	for i, d := range published {
		published[i].Origins = all[d.Key()].Origins
	}
	return published, nil
}

// baselineError reports that the content of the last publication is unknown.
type baselineError struct{ err error }

func (e *baselineError) Error() string {
	return "what was published last is not known, so that what this revision takes away is not known either: " + e.err.Error()
}
func (e *baselineError) Unwrap() error { return e.err }

// isRecreated reports whether a Kustomization has applied an artifact of Winnow's, though nothing of this selection was
// served: it was deleted and created again, or its status is lost. Which lines of the spec are used is not known then.
func (a *attempt) isRecreated() bool {
	isServed := a.selection.Status.Artifact != nil && !consumers.Awaited(a.selection)
	return !isServed && a.live.HaveApplied(a.selection)
}

// numbered returns the function that gives lines the numbers with which they count.
func (a *attempt) numbered() func(approval.Line) approval.Line {
	return guard.Fresh(approvals.Known(a.selection))
}

// hold returns the error that holds a render. It is quiet while the edit is fresh, unless it is reported already.
func (r *CatalogSelectionReconciler) hold(a *attempt, reason string, reasons []v1alpha1.HeldReason, lines []string) error {
	held := a.held(reason, reasons, lines...)
	if a.newer != nil {
		held = held.Because(a.newer.String())
	}
	known := conditions.Get(a.selection, v1alpha1.HeldCondition)
	if known == nil || known.Status != metav1.ConditionTrue || known.ObservedGeneration != a.selection.Generation {
		if err := r.settled(r.edits.since(a.selection, r.now()), held.Error()); err != nil {
			return err
		}
	}
	return held
}

// holdUnkept turns the error about objects that Flux would delete although they are to stay into a hold that no approval releases.
func (a *attempt) holdUnkept(err error) error {
	if unkept, ok := errors.AsType[*departures.UnkeptError](err); ok {
		return a.held(v1alpha1.PruneNotDisabledReason, unkept.Reasons)
	}
	return err
}

// held returns a hold with the lines that name a part of what is held: they count for as long.
func (a *attempt) held(reason string, reasons []v1alpha1.HeldReason, lines ...string) *holds.Error {
	held := holds.New(reason, artifacts.Origin(a.observed), reasons, lines...)
	for _, line := range a.uses {
		held.Named(line.String())
	}
	return held
}

// noteUnmatchedLines adds the lines of the spec that name nothing to the names that match nothing.
func (a *attempt) noteUnmatchedLines(last []safeguard.Definition) {
	isUsed := func(line string) bool { return approvals.IsUsed(a.selection, line) }
	lines := guard.UnmatchedLines(a.selection.Spec.Safeguards.Approve, slices.Concat(last, a.result.Compared()), a.result.Selection, a.guarded, isUsed)
	a.names = &unmatchedNames{slices.Concat(a.result.Unmatched, lines)}
}
