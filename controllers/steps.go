// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/approvals"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// publishTimeout bounds the steps of one reconciliation: a valid but expensive catalog must not block a
// worker that other selections need. Downloads are no part of it.
const publishTimeout = 5 * time.Minute

// errUnchanged ends the steps because their result is published already.
var errUnchanged = errors.New("unchanged")

// step is one part of a publication, and the phase that it belongs to. The first step that fails ends the publication.
type step struct {
	phase metrics.Phase
	run   func(context.Context, *attempt) error
}

// steps returns the steps from a spec to a published artifact, in order. The first error is what users see, so
// the checks that cost least and explain most come first: the spec and the status of its sources, then the
// content of the sources, then the cluster. Before commit, the steps write nothing but marks and claims, which
// only protect objects.
func (r *CatalogSelectionReconciler) steps() []step {
	return []step{
		{metrics.Untimed, r.readSpec},
		{metrics.Untimed, r.observe},
		{metrics.Untimed, r.endUnchanged},
		{metrics.Untimed, r.load}, // the loader times it
		{metrics.Select, r.render},
		{metrics.Guard, r.inspect},
		{metrics.Guard, r.admit},
		{metrics.Guard, r.endKept},
		{metrics.Untimed, r.store}, // Store times it
		{metrics.Commit, r.commit},
	}
}

// publish runs the steps within publishTimeout. A step that exceeds it fails with the reason TimedOut. The end
// of ctx is no such failure: it means that the controller stops.
func (r *CatalogSelectionReconciler) publish(ctx context.Context, a *attempt) error {
	timeout := cmp.Or(r.publishTimeout, publishTimeout)
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := run(bounded, a, r.steps())
	if bounded.Err() == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return failure.Override(v1alpha1.TimedOutReason, fmt.Errorf("publishing took longer than %s, and is tried again with backoff: %w; "+
		"if that goes on, use a smaller catalog or only a part of it (spec.sources[].path), or give the controller more CPU", timeout, err))
}

func run(ctx context.Context, a *attempt, steps []step) error {
	defer a.timing.End()
	for _, step := range steps {
		a.timing.Enter(step.phase)
		err := step.run(ctx, a)
		if errors.Is(err, errUnchanged) {
			a.selection.Status.Claim = a.written.Status.Claim.DeepCopy()
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *CatalogSelectionReconciler) readSpec(ctx context.Context, a *attempt) (err error) {
	if a.options, err = render.FromSpec(a.selection); err != nil {
		return err
	}
	if err := r.acyclic(ctx, a.selection); err != nil {
		return err
	}
	r.edits.since(a.selection, r.now()) // also an edit that removes nothing: a later return to an older spec is a new edit
	return nil
}

func (r *CatalogSelectionReconciler) observe(ctx context.Context, a *attempt) (err error) {
	if a.observed, err = r.sources.Observe(ctx, a.selection); err != nil {
		return err
	}
	if a.consumers, err = r.cluster.Kustomizations.Of(ctx, a.selection); err != nil {
		return err
	}
	a.next = publicationOf(a.selection, a.observed)
	last, ok := r.lastPublication(a.selection)
	return source.DemandVerified(a.observed, ok && last.sameSources(a.next))
}

// endUnchanged ends the steps if this process has published the same inputs before and still serves the result.
func (r *CatalogSelectionReconciler) endUnchanged(_ context.Context, a *attempt) error {
	last, ok := r.lastPublication(a.selection)
	leaving := a.record != nil && len(a.record.Kept) > 0
	if !ok || !a.served || leaving || !last.sameInputs(a.next) || a.selection.Status.Withheld != "" && !a.consumers.None() {
		return nil
	}
	if !holders.IsComplete(a.selection, a.consumers, a.published()) { // what is published is claimed anew
		return nil
	}
	a.names = last.names
	return errUnchanged
}

func (r *CatalogSelectionReconciler) load(ctx context.Context, a *attempt) (err error) {
	if a.record != nil {
		r.sources.Recall(a.observed, a.selection.Status.Sources, a.record.Locations)
	}
	if a.loaded, err = r.loadSources(ctx, a, source.ForRender, a.observed); err != nil {
		return err
	}
	a.guarded = source.Guarded(a.loaded)
	for _, l := range a.loaded {
		if note := l.Location.Note(); note != "" {
			a.note("ignoredLayer", fmt.Sprintf("source %s: %s", l.Name, note))
		}
	}
	return nil
}

// render renders the loaded sources. An empty first publication is an error, and claims no objects; a later one is the loss of
// everything.
func (r *CatalogSelectionReconciler) render(ctx context.Context, a *attempt) (err error) {
	sources := guard.Selections(a.guarded)
	a.options.AllowEmpty = a.isOld() || a.selection.Status.Artifact != nil && !a.reachedNoCluster()
	a.result, err = render.InPhases(ctx, sources, a.options, a.enter)
	switch {
	case err == nil:
		a.names = &unmatchedNames{a.result.Unmatched}
		if a.record == nil {
			return a.keep(ctx, nil, nil)
		}
		return a.keep(ctx, a.record.Kept, a.record.Files)
	case failure.ReasonOf(err) == v1alpha1.EmptyResultReason:
		a.names = &unmatchedNames{mention.UnmatchedOf(sources, a.options.Mentions)}
		if unmatched := a.names.condition(); unmatched != nil { // explains why the result is empty
			return failure.Override(v1alpha1.EmptyResultReason, fmt.Errorf("%w; %s", err, unmatched.Message))
		}
	}
	return err
}

func (r *CatalogSelectionReconciler) inspect(ctx context.Context, a *attempt) (err error) {
	if a.live, err = r.cluster.Objects.Inspect(ctx, a.selection, a.consumers, a.isOld(), a.published(), a.result.Live()); err != nil {
		return err
	}
	if a.position, err = r.cluster.Holders.PositionOf(ctx, a.selection, a.live, a.result.Live()); err != nil {
		return err
	}
	a.position.Open = a.addsUnknown()
	claims := a.position.Before(a.selection)
	claims.Held, claims.Pending, claims.Gives = true, false, nil // until the guard has decided
	a.selection.Status.Claim = claims
	return nil
}

// admit returns nil when the render may be published: no safeguard holds it, no other selection holds one of its
// objects, and Flux would delete no object that is orphaned, or moves between selections. Bypassed definitions are marked last. If
// one cannot be marked, Flux would overwrite it, so the checks run again without the bypass.
func (r *CatalogSelectionReconciler) admit(ctx context.Context, a *attempt) error {
	for {
		if err := r.guard(ctx, a); err != nil {
			return err
		}
		a.selection.Status.Claim.Held = false
		leaving, err := r.cluster.Departures.Leaving(ctx, a.selection, a.live, a.result.Live())
		if err != nil {
			return err
		}
		if err := r.cluster.Departures.Await(ctx, a.selection, leaving); err != nil {
			return err
		}
		if err := r.claim(ctx, a); err != nil {
			return err
		}
		if err := r.cluster.Departures.HandOver(ctx, a.selection, a.live, leaving, a.kept); err != nil {
			return a.holdUnkept(err)
		}
		if a.isNew() { // an unchanged render adds no objects
			if err := r.cluster.Departures.Receive(ctx, a.selection, a.live, a.result.Live()); err != nil {
				return err
			}
		}
		if err := r.keepStaying(ctx, a); err != nil {
			return err
		}
		if !a.live.MayAct(a.selection) {
			return nil
		}
		marked, err := r.cluster.Marks.MarkEntering(ctx, a.selection, a.live, a.result.Live())
		if err != nil || marked {
			return err
		}
	}
}

// claim writes what the render claims and gives up, and returns a *holders.ConflictError while others have some of what it claims. A
// publication that neither adds nor gives up an object writes nothing.
func (r *CatalogSelectionReconciler) claim(ctx context.Context, a *attempt) error {
	claims := a.position.Before(a.selection)
	a.selection.Status.Claim = claims
	if len(claims.Keys)+len(claims.Gives) == 0 || !a.isNew() && len(claims.Keys) == 0 {
		return nil
	}
	err := r.cluster.Holders.FindStrangers(ctx, a.selection, a.position)
	if err != nil {
		return err
	}
	err = r.cluster.Holders.Foresee(ctx, a.selection, a.written.Status.Claim, a.position)
	if err == nil {
		err = r.storeClaims(ctx, a, claims)
	}
	if err == nil {
		err = r.cluster.Holders.Decide(ctx, a.selection, a.position)
	}
	if conflict, ok := errors.AsType[*holders.ConflictError](err); ok {
		a.selection.Status.Claim = a.position.Waiting(a.selection, conflict)
	}
	return err
}

// keepStaying adds the files of what stays in the artifact to the render. It takes them from the record, or else from the artifact.
func (r *CatalogSelectionReconciler) keepStaying(ctx context.Context, a *attempt) error {
	staying := a.live.Staying
	promised := a.position.Gives(staying)
	a.position.Keep(staying)
	if promised { // another selection may count on it, as in a swap
		if err := r.claim(ctx, a); err != nil {
			return unmarked(staying, err)
		}
	}
	if a.record != nil && slices.EqualFunc(staying, a.record.Kept, live.Staying.Equal) {
		return a.keep(ctx, a.record.Kept, a.record.Files)
	}
	if len(staying) == 0 {
		return a.keep(ctx, nil, nil)
	}
	of := map[safeguard.Key]bool{}
	for _, s := range staying {
		of[s.Definition.Key()] = s.Moves
	}
	files, found, err := r.artifacts.Files(ctx, a.selection, a.selection.Status.Artifact, of)
	for _, s := range staying {
		if err == nil && !found[s.Definition.Key()] {
			err = errors.New("the last artifact does not have it")
		}
		if err != nil {
			return failure.Because(v1alpha1.HandoverReason, fmt.Errorf("%s moves to the CatalogSelection %s, may not be marked, and cannot stay in the artifact: %w; "+
				"annotate the live object with %s: %s", s.Key.FullName(), s.Receiver, err, guard.PruneAnnotation, guard.Disabled))
		}
	}
	return a.keep(ctx, staying, files)
}

// unmarked adds to a conflict how to end it: by a mark on the object that stays.
func unmarked(staying []live.Staying, err error) error {
	if _, ok := errors.AsType[*holders.ConflictError](err); !ok {
		return err
	}
	return failure.Override(v1alpha1.HandoverReason, fmt.Errorf("%w; %s is part of a swap, and may not be marked: annotate the live object with %s: %s",
		err, staying[0].Key.FullName(), guard.PruneAnnotation, guard.Disabled))
}

// endKept ends the steps if the artifact is published already, with objects that leave and still stay.
func (r *CatalogSelectionReconciler) endKept(_ context.Context, a *attempt) error {
	last, ok := r.lastPublication(a.selection)
	if !ok || !a.served || len(a.live.Staying) == 0 || a.isNew() || !last.sameInputs(a.next) {
		return nil
	}
	return errUnchanged
}

func (r *CatalogSelectionReconciler) store(_ context.Context, a *attempt) error {
	artifact, err := r.artifacts.Store(a.selection, a.stored, artifacts.Origin(a.observed), a.timing)
	if err != nil {
		return err
	}
	a.next.artifact, a.next.names, a.next.files = *artifact, a.names, filesOf(a.result)
	return nil
}

// commit announces the stored artifact, first in the status, then in the ExternalArtifact. After a crash between
// the two, keepServing updates the ExternalArtifact from the status, so a revision is never taken back.
func (r *CatalogSelectionReconciler) commit(ctx context.Context, a *attempt) error {
	cs, before := a.selection, a.selection.Status.DeepCopy()
	publication := record.Publication{Sources: a.loaded, Result: a.stored, Kept: a.kept, Files: a.files, Last: a.compared()}
	if a.newer != nil {
		publication.Newer = a.newer.Revision
	}
	next := record.New(cs, publication)
	packed, err := next.Pack()
	if err != nil {
		return err
	}
	if packed == nil {
		a.note("record", "too large for the status: new revisions are compared with the artifact itself")
	}
	if cs.Status.Withheld, err = r.withholdReason(ctx, a); err != nil {
		return err
	}
	a.list()
	cs.Status.WrittenRecord, cs.Status.Claim = packed, a.position.After(cs)
	cs.Status.Claims, cs.Status.Leaving = nil, nil // of an earlier release

	if !a.reachedNoCluster() { // or the render is compared again before it is served
		cs.Status.Approvals, cs.Status.ApprovalsRead = approvals.Use(cs.Status.Approvals, a.uses, r.now()), ""
	}
	version := cs.ResourceVersion
	announced, _ := r.artifacts.Find(ctx, cs) // before the status is written
	if err = r.reportEarly(ctx, a); err == nil {
		err = r.writeStatus(ctx, a)
	}
	if err != nil {
		before.DeepCopyInto(&cs.Status)
		return err
	}
	r.cluster.Departures.Forget(cs.UID)
	a.record, a.newer, a.behind = nil, nil, false
	if packed != nil {
		a.record = &next
	}
	r.published.Store(client.ObjectKeyFromObject(cs), a.next)
	if err := r.artifacts.Unstage(cs); err != nil {
		return err
	}
	if cs.ResourceVersion == version { // nothing was written: the status has it all
		return r.artifacts.Announce(ctx, cs)
	}
	return r.artifacts.AnnounceNext(ctx, cs, announced)
}

// withholdReason returns why the ExternalArtifact must not name the artifact yet, or an empty string if it may. An
// ExternalArtifact that has named an artifact continues to name one, also after a conflict.
func (r *CatalogSelectionReconciler) withholdReason(ctx context.Context, a *attempt) (string, error) {
	cs := a.selection
	if cs.Spec.Cluster.Serve == v1alpha1.ServeAlways || !a.consumers.None() || cs.Status.Artifact != nil && !consumers.Awaited(cs) {
		return "", nil
	}
	announced, err := r.artifacts.IsAnnounced(ctx, cs)
	if err != nil || announced {
		return "", err
	}
	return v1alpha1.NoConsumerReason, nil
}
