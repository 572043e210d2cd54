package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// publishTimeout bounds what a reconciliation does to render and to publish: a catalog that is
// valid, but too much work, must not keep a worker from all other selections.
const publishTimeout = 5 * time.Minute

// errUnchanged ends the steps: what they would publish is published already.
var errUnchanged = errors.New("unchanged")

// step is a part of a publication. The first one that fails ends it.
type step func(context.Context, *attempt) error

// steps publish what the spec and the sources say, if there is anything new that nothing speaks against.
// Each of them is reported by its error, so the cheap ones that say most come first: what the spec and the
// sources are before what they hold, and both before the cluster. Nothing is written before commit but marks
// and claims, which protect.
func (r *CatalogSelectionReconciler) steps() []step {
	return []step{
		r.readSpec,
		r.observe,
		r.endUnchanged,
		r.load,
		r.render,
		r.inspect,
		r.admit,
		r.store,
		r.commit,
	}
}

// publish runs the steps within publishTimeout. That it ends says nothing about ctx, whose end means that the
// controller stops. A step that was interrupted has the reason TimedOut.
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
	for _, step := range steps {
		err := step(ctx, a)
		if errors.Is(err, errUnchanged) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *CatalogSelectionReconciler) readSpec(_ context.Context, a *attempt) (err error) {
	if a.options, err = render.FromSpec(a.selection); err != nil {
		return err
	}
	r.edits.since(a.selection, r.cluster.Now()) // also one that loses nothing: another one comes back as a new one
	return nil
}

func (r *CatalogSelectionReconciler) observe(ctx context.Context, a *attempt) (err error) {
	if a.observed, err = r.sources.Observe(ctx, a.selection); err != nil {
		return err
	}
	if a.consumers, err = r.cluster.ConsumersOf(ctx, a.selection); err != nil {
		return err
	}
	a.next = publicationOf(a.selection, a.observed)
	last, ok := r.lastPublication(a.selection)
	return source.DemandVerified(a.observed, ok && last.sameSources(a.next))
}

// endUnchanged ends the steps where this process has published the same before, and serves it.
func (r *CatalogSelectionReconciler) endUnchanged(ctx context.Context, a *attempt) error {
	last, ok := r.lastPublication(a.selection)
	if !ok || !a.served || !last.sameInputs(a.next) || a.selection.Status.Withheld != "" && !a.consumers.None() {
		return nil
	}
	a.names = last.names
	r.cluster.Withdraw(ctx, a.selection)
	return errUnchanged
}

func (r *CatalogSelectionReconciler) load(ctx context.Context, a *attempt) (err error) {
	if a.record != nil {
		r.sources.Recall(a.observed, a.selection.Status.Sources, a.record.Locations)
	}
	if a.loaded, err = r.sources.Load(ctx, a.observed); err != nil {
		return err
	}
	a.guarded = source.Guarded(a.loaded)
	return nil
}

// render renders. An empty result is refused, and held; what the selection claims then is nothing.
func (r *CatalogSelectionReconciler) render(ctx context.Context, a *attempt) (err error) {
	sources := guard.Selections(a.guarded)
	a.result, err = render.Render(ctx, sources, a.options)
	switch {
	case err == nil:
		a.names = &unmatchedNames{a.result.Unmatched}
	case failure.ReasonOf(err) == v1alpha1.EmptyResultReason:
		a.names = &unmatchedNames{render.UnmatchedOf(sources, a.options)} // they explain why it is empty
		r.cluster.NoteRender(a.selection, a.consumers, nil, a.addsUnknown())
		return a.holdEmpty(err)
	}
	return err
}

func (r *CatalogSelectionReconciler) inspect(ctx context.Context, a *attempt) (err error) {
	if a.around, err = r.cluster.Inspect(ctx, a.selection, a.consumers, a.result.Definitions); err != nil {
		return err
	}
	r.cluster.NoteRender(a.selection, a.consumers, a.result.Definitions, a.addsUnknown())
	return nil
}

// admit returns nil once nothing speaks against a render: no safeguard, no other holder of one of its
// objects, and no object that Flux would delete on its way to another selection. What is bypassed is
// marked last; what cannot be marked is guarded once more, as what Flux applies over.
func (r *CatalogSelectionReconciler) admit(ctx context.Context, a *attempt) error {
	for {
		if err := r.guard(ctx, a); err != nil {
			return err
		}
		type check = func(context.Context, *v1alpha1.CatalogSelection, *cluster.Surroundings, []safeguard.Definition) error
		checks := []check{r.cluster.HandOver}
		if a.isNew() { // else nothing enters
			checks = []check{r.cluster.Claim, r.cluster.HandOver, r.cluster.Receive}
		}
		for _, check := range checks {
			if err := check(ctx, a.selection, a.around, a.result.Definitions); err != nil {
				return err
			}
		}
		if !a.around.MayAct(a.selection) {
			return nil
		}
		marked, err := r.cluster.MarkEntering(ctx, a.selection, a.around, a.result.Definitions)
		if err != nil || marked {
			return err
		}
	}
}

func (r *CatalogSelectionReconciler) store(_ context.Context, a *attempt) error {
	artifact, err := r.artifacts.Store(a.selection, a.result, artifacts.Origin(a.observed))
	if err != nil {
		return err
	}
	a.next.artifact, a.next.names, a.next.files = *artifact, a.names, filesOf(a.result)
	return nil
}

// commit announces an artifact that is stored: first in the status, then in the ExternalArtifact. After
// a crash between the two, the ExternalArtifact follows the status, and no revision is ever taken
// back.
func (r *CatalogSelectionReconciler) commit(ctx context.Context, a *attempt) error {
	cs := a.selection
	next := record.New(cs, record.Publication{Sources: a.loaded, Result: a.result, Last: a.record})
	packed, err := next.Pack()
	if err != nil {
		return err
	}
	if packed == nil {
		ctrl.LoggerFrom(ctx).Info("the record of the artifact is too large for the status: new revisions are compared with the artifact itself")
	}
	if cs.Status.Withheld, err = r.withheld(ctx, a); err != nil {
		return err
	}
	a.list()
	cs.Status.WrittenRecord, cs.Status.Published = packed, nil
	if cs.Status.Withheld == "" { // what is withheld is compared once more
		cs.Status.UsedApprovals = guard.Used(cs.Spec.Safeguards.Approve, cs.Status.UsedApprovals,
			append(guard.Checksums(a.guarded), guard.Checksum(a.result.Revision)), next.PassedOver)
	}
	if err := r.writeStatus(ctx, a); err != nil {
		return err
	}
	a.record = nil
	if packed != nil {
		a.record = &next
	}
	r.published.Store(client.ObjectKeyFromObject(cs), a.next)
	r.edits.forget(cs.UID)
	r.cluster.Commit(ctx, cs, a.around, a.result.Definitions)
	return r.artifacts.Announce(ctx, cs)
}

// withheld says why the ExternalArtifact is to name no artifact yet, empty when it is. What was served
// once stays served.
func (r *CatalogSelectionReconciler) withheld(ctx context.Context, a *attempt) (string, error) {
	cs := a.selection
	if cs.Spec.Cluster.Serve == v1alpha1.ServeAlways || !a.consumers.None() || cs.Status.Artifact != nil && cs.Status.Withheld == "" {
		return "", nil
	}
	announced, err := r.artifacts.Find(ctx, cs)
	if client.IgnoreNotFound(err) != nil {
		return "", err
	}
	if err == nil && announced.Status.Artifact != nil {
		return "", nil
	}
	return v1alpha1.NoConsumerReason, nil
}
