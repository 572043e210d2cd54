// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/listing"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// attempt is the state of one reconciliation of a selection. Each step adds the results that later steps need.
type attempt struct {
	start  time.Time
	timing *metrics.Timing
	// selection gets the new status, found is the selection as it was read, and written as it was written last.
	selection, found, written *v1alpha1.CatalogSelection
	// served reports whether the storage has the archive that the status names.
	served bool
	// newer is a publication that the status does not know, because it was restored from a backup; nil without one.
	newer *artifacts.Newer
	// behind is true if nothing is left of such a publication, but a consumer has applied its revision.
	behind bool
	// record is the record of the last publication; it is nil if unread explains why it cannot be read.
	record *record.Record
	unread error

	options   render.Options
	observed  []source.Observed
	loaded    []source.Loaded
	guarded   []guard.Source // loaded, as the safeguards compare it
	consumers consumers.Consumers
	result    *render.Result
	// stored is the result with the files of kept, the objects that the selection does not give up yet.
	stored *render.Result
	kept   []live.Staying
	files  []render.File
	live   *live.State
	// position is how the selection stands to the objects of the render.
	position *holders.Position
	next     publication

	// uses are the lines of the spec that name what the render loses.
	uses []approval.Line

	// notes are keys and values for the line in the log.
	notes []any
	// waitsSince is when the attempt began to wait for its sources, or for a slot; zero unless it waits.
	waitsSince time.Time
	// lacksSlot is true if it waits for a slot.
	lacksSlot bool
	// left is how long it may still wait without a report, and without its other work: see patience.
	left time.Duration
	// names is nil until the sources are rendered.
	names *unmatchedNames
	// sourceChanges are the definitions that a new revision takes from another source under the same version.
	sourceChanges []safeguard.Change
}

func newAttempt(cs *v1alpha1.CatalogSelection, start time.Time, timing *metrics.Timing) *attempt {
	found := cs.DeepCopy()
	a := &attempt{start: start, timing: timing, selection: cs, found: found, written: found}
	a.record, a.unread = record.Read(cs)
	return a
}

// enter begins a phase of a render.
func (a *attempt) enter(phase render.Phase) { a.timing.Enter(metrics.Phase(phase)) }

// note adds a key and its value to the line in the log.
func (a *attempt) note(key, value string) { a.notes = append(a.notes, key, value) }

// isNew reports whether the render differs from the served artifact. A withheld artifact is not served.
func (a *attempt) isNew() bool {
	return a.stored.Revision != consumers.RevisionOf(a.selection) || a.selection.Status.Withheld != "" || a.isOld()
}

// isOld reports whether something newer was published than the status knows. Nothing of the status may be announced then.
func (a *attempt) isOld() bool { return a.newer != nil || a.behind }

// keep adds files of what leaves the render to it.
func (a *attempt) keep(ctx context.Context, kept []live.Staying, files []render.File) (err error) {
	a.kept, a.files = kept, files
	if a.stored, err = a.result.Keeping(ctx, files); err != nil {
		return failure.Override(v1alpha1.HandoverReason, err)
	}
	return nil
}

// reachedNoCluster reports whether the last publication was neither served nor pushed, so that no cluster has
// applied it.
func (a *attempt) reachedNoCluster() bool {
	return consumers.Awaited(a.selection) && a.selection.Spec.Push == nil
}

// compared returns a record with the earlier revisions that the safeguards have compared up to this one: spec.push may move a tag from
// each of them.
func (a *attempt) compared() *record.Record {
	switch {
	case a.reachedNoCluster():
		return &record.Record{}
	case a.record == nil: // what the artifact was compared with is not known
		return &record.Record{Revisions: []string{consumers.RevisionOf(a.selection)}}
	}
	return a.record
}

// addsUnknown reports whether the spec has names that match nothing and that are new: the last publication lacks them, or they were new
// when this spec was evaluated first.
func (a *attempt) addsUnknown() bool {
	var last *v1alpha1.CatalogSelectionSpec
	claim := a.found.Status.Claim
	wasOpen := claim != nil && claim.Open && claim.Generation == a.found.Generation
	if a.record != nil && !a.reachedNoCluster() && !wasOpen {
		last = &a.record.Spec
	}
	return mention.Adds(last, a.selection.Spec, a.names.unmatched)
}

// list writes the readable lists of what is published into the status.
func (a *attempt) list() {
	p := listing.Publication{
		Artifact: a.next.artifact, Result: a.stored, Sources: a.next.sources, Took: time.Since(a.start),
	}
	if consumers.RevisionOf(a.selection) != a.stored.Revision {
		a.sourceChanges = sourceChanges(a.record.Published(), a.result.Compared())
		changes := len(a.sourceChanges)
		p.SourceChanges = &changes
	}
	a.selection.Status = p.After(&a.selection.Status)
}

// patchStatus writes what differs between two statuses of a selection. The optimistic lock rejects a decision that was made on an
// outdated object.
func (r *CatalogSelectionReconciler) patchStatus(ctx context.Context, before, after *v1alpha1.CatalogSelection) error {
	r.replaced.Store(client.ObjectKeyFromObject(before), before.ResourceVersion)
	return r.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// writeStatus writes the whole status in one patch, or nothing if it has not changed since the last write.
func (r *CatalogSelectionReconciler) writeStatus(ctx context.Context, a *attempt) error {
	if equality.Semantic.DeepEqual(a.written.Status, a.selection.Status) {
		return nil
	}
	err := r.patchStatus(ctx, a.written, a.selection)
	if apierrors.IsNotFound(err) { // it was deleted, and must not be announced
		err = failure.Conflict(a.selection, err)
	}
	if err != nil {
		r.looked.Delete(client.ObjectKeyFromObject(a.selection))
		return fmt.Errorf("patching the status: %w", err)
	}
	a.written = a.selection.DeepCopy()
	return nil
}

// claim notes the claim after the attempt. After an error, the claim stays as the steps have noted it.
func (a *attempt) claim(err error) {
	switch claim := a.selection.Status.Claim; {
	case err == nil:
		a.selection.Status.Claim = a.position.Concluded(a.selection)
	case claim != nil && !a.live.Consumers.ActHere():
		a.selection.Status.Claim = &v1alpha1.Claim{Generation: claim.Generation, Open: claim.Open}
	}
}

// storeClaims writes status.claim, and nothing else of the attempt, unless the status has it already. If the API server drops the field,
// the error says so: no other selection would see the claim.
func (r *CatalogSelectionReconciler) storeClaims(ctx context.Context, a *attempt, claims *v1alpha1.Claim) error {
	next := a.written.DeepCopy()
	next.Status.Claim = claims
	if !equality.Semantic.DeepEqual(a.written.Status, next.Status) {
		if err := r.patchStatus(ctx, a.written, next); err != nil {
			return fmt.Errorf("claiming objects in the status: %w", err)
		}
	}
	if !equality.Semantic.DeepEqual(next.Status.Claim, claims) {
		return failure.Because(v1alpha1.StorageFailedReason, errors.New(
			"claiming objects in the status: the API server has dropped status.claim: apply the CustomResourceDefinition of this release"))
	}
	a.selection.ObjectMeta = *next.ObjectMeta.DeepCopy()
	a.selection.Status.Claim, a.written = claims, next
	return nil
}

// published returns the definitions in the artifact of the status, as record.Live does; nil if they are not known.
func (a *attempt) published() []safeguard.Definition {
	if a.selection.Status.Artifact == nil {
		return nil
	}
	return a.record.Live()
}

// sourceChanges returns the definitions that come from another source than the published definitions of the same
// version. It returns none if the earlier source is unknown.
func sourceChanges(published, next []safeguard.Definition) []safeguard.Change {
	return slices.DeleteFunc(safeguard.Compare(published, next), func(c safeguard.Change) bool {
		return c.Reason != v1alpha1.SourceChangeReason
	})
}
