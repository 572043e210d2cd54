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
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
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
	// files of the applications in their catalogs.
	files cluster.Files
}

// sameInputs reports whether both were rendered by the same spec from the same artifacts, for the same
// request.
func (a publication) sameInputs(b publication) bool {
	return a.sameSources(b) && a.requested == b.requested
}

// sameSources reports whether both were rendered by the same spec from the same artifacts.
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

// publishedFiles returns where the applications of the artifact come from, as far as this process knows.
func (r *CatalogSelectionReconciler) publishedFiles(cs *v1alpha1.CatalogSelection) cluster.Files {
	last, ok := r.lastPublication(cs)
	if !ok || last.artifact.Revision != cluster.RevisionOf(cs) {
		return nil
	}
	return last.files
}

func filesOf(result *render.Result) cluster.Files {
	files := cluster.Files{}
	for _, d := range result.Selection.Applications() {
		files[d.Application.Name] = d.Application.Path + " of source " + d.Source
	}
	return files
}

func publicationOf(cs *v1alpha1.CatalogSelection, observed []observedSource) publication {
	p := publication{uid: cs.UID, generation: cs.Generation}
	p.requested, _ = meta.ReconcileAnnotationValue(cs.Annotations)
	for _, s := range observed {
		p.sources = append(p.sources, s.status())
	}
	return p
}

// proposal is a render on its way to be published, and what was found about it.
type proposal struct {
	next     publication
	options  render.Options
	record   *publishedRecord
	observed []observedSource
	loaded   []loadedSource
	result   *render.Result
	around   *cluster.Surroundings
	start    time.Time
}

// publish renders and publishes, if there is anything new that nothing speaks against.
func (r *CatalogSelectionReconciler) publish(ctx context.Context, before, cs *v1alpha1.CatalogSelection, served bool, this *attempt) error {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return err
	}
	r.edits.since(cs, r.Cluster.Now()) // also one that loses nothing: another one comes back as a new one
	p := &proposal{options: opts, start: this.start, record: recordOf(cs)}
	if p.observed, err = r.observe(ctx, cs); err != nil {
		return err
	}
	consumed, err := r.Cluster.ConsumersOf(ctx, cs)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	p.next = publicationOf(cs, p.observed)
	last, ok := r.lastPublication(cs)
	if err := demandVerified(p.observed, ok && last.sameSources(p.next)); err != nil {
		return err
	}
	if ok && served && last.sameInputs(p.next) && (cs.Status.Withheld == "" || consumed.None()) {
		this.names = last.names
		r.Cluster.Withdraw(ctx, cs)
		return nil
	}
	if err := r.render(ctx, cs, p, this, consumed); err != nil {
		return err
	}
	if err := r.admit(ctx, cs, p); err != nil {
		return err
	}
	artifact, err := r.store(cs, p.result, p.observed)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	p.next.artifact, p.next.names, p.next.files = *artifact, this.names, filesOf(p.result)
	return fail(v1alpha1.StorageFailedReason, r.commit(ctx, before, cs, p))
}

// render renders what was observed, and looks at the cluster around it.
func (r *CatalogSelectionReconciler) render(ctx context.Context, cs *v1alpha1.CatalogSelection, p *proposal, this *attempt,
	consumed cluster.Consumers) (err error) {
	r.recall(cs, p.observed)
	if p.loaded, err = r.load(ctx, p.observed); err != nil {
		return err
	}
	p.result, err = render.Render(ctx, selectionSources(p.loaded), p.options)
	this.found(p.result, err, p.loaded, p.options)
	if reasonOf(err) == v1alpha1.EmptyResultReason {
		r.Cluster.Want(cs, consumed, nil, addsUnknown(cs, p))
	}
	if err != nil {
		return holdEmpty(cs, p, err)
	}
	if p.around, err = r.Cluster.Inspect(ctx, cs, consumed, p.result.Definitions); err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	r.Cluster.Want(cs, consumed, p.result.Definitions, addsUnknown(cs, p))
	return nil
}

func addsUnknown(cs *v1alpha1.CatalogSelection, p *proposal) bool {
	last := p.record.published()
	if reachedNobody(cs) {
		last = guard.Published{}
	}
	return guard.AddsUnknown(last, guard.Next{Selection: cs, Sources: guardSources(p.loaded)})
}

// admit returns nil once nothing speaks against a render: no safeguard, nobody who holds one of its
// objects, and no object that Flux would delete on its way to another selection. What is bypassed is
// marked last; what cannot be marked is guarded once more, as what Flux applies over.
func (r *CatalogSelectionReconciler) admit(ctx context.Context, cs *v1alpha1.CatalogSelection, p *proposal) error {
	for {
		if err := r.guard(ctx, cs, p); err != nil {
			return err
		}
		type step = func(context.Context, *v1alpha1.CatalogSelection, *cluster.Surroundings, []safeguard.Definition) error
		steps := []step{r.Cluster.HandOver}
		if p.result.Revision != cluster.RevisionOf(cs) || cs.Status.Withheld != "" { // else nothing enters
			steps = []step{r.Cluster.Claim, r.Cluster.HandOver, r.Cluster.Receive}
		}
		for _, step := range steps {
			if err := step(ctx, cs, p.around, p.result.Definitions); err != nil {
				return fail(v1alpha1.StorageFailedReason, err)
			}
		}
		if !p.around.MayAct(cs) {
			return nil
		}
		marked, err := r.Cluster.MarkEntering(ctx, cs, p.around, p.result.Definitions)
		if err != nil {
			return fail(v1alpha1.StorageFailedReason, err)
		}
		if marked {
			return nil
		}
	}
}

// commit tells of an artifact that is stored: first the status, then the ExternalArtifact. After
// a crash between the two, the ExternalArtifact follows the status, and no revision is ever taken
// back.
func (r *CatalogSelectionReconciler) commit(ctx context.Context, before, cs *v1alpha1.CatalogSelection, p *proposal) error {
	record := newRecord(cs, p)
	packed, err := record.pack()
	if err != nil {
		return err
	}
	if packed == nil {
		ctrl.LoggerFrom(ctx).Info("the record of the artifact is too large for the status: new revisions are compared with the artifact itself")
	}
	if cs.Status.Withheld, err = r.withheld(ctx, cs, p.around.Consumers); err != nil {
		return err
	}
	artifact := p.next.artifact
	published, _ := PublishedDefinitions(cs)
	recordPublication(cs, &artifact, p.result, p.next.sources, time.Since(p.start))
	if cluster.RevisionOf(before) != artifact.Revision {
		cs.Status.Summary.SourceChanges = bounds.Count(len(sourceChanges(published, p.result.Definitions)))
	}
	cs.Status.WrittenRecord, cs.Status.Published = packed, nil
	if cs.Status.Withheld == "" { // what is withheld is compared once more
		cs.Status.UsedApprovals = guard.Used(cs.Spec.Safeguards.Approve, cs.Status.UsedApprovals,
			append(guard.Checksums(guardSources(p.loaded)), guard.Checksum(artifact.Revision)), record.PassedOver)
	}
	if err := r.patchStatus(ctx, before, cs); err != nil {
		return err
	}
	cs.DeepCopyInto(before)
	r.published.Store(client.ObjectKeyFromObject(cs), p.next)
	r.edits.forget(cs.UID)
	r.Cluster.Commit(ctx, cs, p.around, p.result.Definitions)
	return r.announce(ctx, cs)
}

// withheld says why the ExternalArtifact is to name no artifact yet, empty when it is. What was served
// once stays served.
func (r *CatalogSelectionReconciler) withheld(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed cluster.Consumers) (string, error) {
	if cs.Spec.Cluster.Serve == v1alpha1.ServeAlways || !consumed.None() || cs.Status.Artifact != nil && cs.Status.Withheld == "" {
		return "", nil
	}
	announced, err := r.externalArtifact(ctx, cs)
	if client.IgnoreNotFound(err) != nil {
		return "", err
	}
	if err == nil && announced.Status.Artifact != nil {
		return "", nil
	}
	return v1alpha1.NoConsumerReason, nil
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
