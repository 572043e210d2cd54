package controllers

import (
	"context"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// publication is what was published for a selection, and from what.
type publication struct {
	uid        types.UID
	generation int64
	requested  string
	sources    []v1alpha1.SourceStatus
	artifact   meta.Artifact
	// names are what the render found out about names in the spec.
	names *unmatchedNames
}

// sameInputs says whether both were rendered from the same.
func (a publication) sameInputs(b publication) bool {
	return a.sameSources(b) && a.requested == b.requested
}

// sameSources says whether both were rendered by the same spec from the same artifacts.
func (a publication) sameSources(b publication) bool {
	return a.uid == b.uid && a.generation == b.generation && slices.Equal(a.sources, b.sources)
}

func (r *CatalogSelectionReconciler) lastPublication(cs *v1alpha1.CatalogSelection) (publication, bool) {
	last, ok := r.published.Load(client.ObjectKeyFromObject(cs))
	if !ok {
		return publication{}, false
	}
	p := last.(publication)
	return p, p.uid == cs.UID
}

func publicationOf(cs *v1alpha1.CatalogSelection, observed []observedSource) publication {
	p := publication{uid: cs.UID, generation: cs.Generation}
	p.requested, _ = meta.ReconcileAnnotationValue(cs.Annotations)
	for _, s := range observed {
		p.sources = append(p.sources, s.status())
	}
	return p
}

// publish renders and publishes, if there is anything new that nothing speaks against.
func (r *CatalogSelectionReconciler) publish(ctx context.Context, before, cs *v1alpha1.CatalogSelection, served bool, this *attempt) error {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return err
	}
	observed, err := r.observe(ctx, cs)
	if err != nil {
		return err
	}
	consumed, err := r.consumersOf(ctx, cs)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	next := publicationOf(cs, observed)
	last, ok := r.lastPublication(cs)
	if err := demandVerified(observed, ok && last.sameSources(next)); err != nil {
		return err
	}
	if ok && served && last.sameInputs(next) {
		this.names = last.names
		return r.contested(ctx, cs, r.holdings.of(cs), consumed)
	}
	r.recall(cs, observed)
	loaded, err := r.load(ctx, observed)
	if err != nil {
		return err
	}
	result, err := render.Render(ctx, selectionSources(loaded), opts)
	this.found(result, err, loaded, opts)
	if err != nil {
		return r.holdEmpty(cs, loaded, err)
	}
	around, err := r.surround(ctx, cs, consumed, result.Definitions)
	if err != nil {
		return err
	}
	if err := r.guard(ctx, cs, result, loaded, around); err != nil {
		return err
	}
	artifact, err := r.store(cs, result, observed)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	next.artifact, next.names = *artifact, this.names
	return fail(v1alpha1.StorageFailedReason, r.commit(ctx, before, cs, next, result, observed, this.start))
}

// commit tells of an artifact that is stored: first the status, then the ExternalArtifact. After
// a crash between the two, the ExternalArtifact follows the status, and no revision is ever taken
// back.
func (r *CatalogSelectionReconciler) commit(ctx context.Context, before, cs *v1alpha1.CatalogSelection, next publication,
	result *render.Result, observed []observedSource, start time.Time) error {
	packed, err := newRecord(cs, observed, result).pack()
	if err != nil {
		return err
	}
	if packed == nil {
		ctrl.LoggerFrom(ctx).Info("the record of the artifact is too large for the status: every new revision will be held until it is approved")
	}
	held := r.holdings.of(cs)
	artifact := next.artifact
	published, _ := definitionsOf(cs)
	recordPublication(cs, &artifact, result, next.sources, time.Since(start))
	if revisionOf(before) != artifact.Revision {
		cs.Status.Summary.SourceChanges = count(len(sourceChanges(published, result.Definitions)))
	}
	cs.Status.Published = packed
	if err := r.patchStatus(ctx, before, cs); err != nil {
		return err
	}
	cs.DeepCopyInto(before)
	r.published.Store(client.ObjectKeyFromObject(cs), next)
	now := keysOf(result.Definitions)
	r.holdings.set(cs.UID, now)
	if err := r.announce(ctx, cs, &artifact); err != nil {
		return err
	}
	if changed := differing(held, now); len(changed) > 0 {
		r.wakeOthers(ctx, cs, changed)
	}
	return nil
}

// load returns the sources with their catalogs, and notes in observed where these were.
func (r *CatalogSelectionReconciler) load(ctx context.Context, observed []observedSource) ([]loadedSource, error) {
	loaded := make([]loadedSource, len(observed))
	for i := range observed {
		if err := r.locate(ctx, &observed[i]); err != nil {
			return nil, err
		}
		catalog, err := r.Catalogs.load(ctx, observed[i])
		if err != nil {
			return nil, err
		}
		loaded[i] = loadedSource{observedSource: observed[i], catalog: catalog}
	}
	return loaded, nil
}

func selectionSources(loaded []loadedSource) []selection.Source {
	return guard.Selections(guardSources(loaded))
}
