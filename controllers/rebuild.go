package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
)

// rebuildTimeout bounds the download of sources that may be gone.
const rebuildTimeout = 20 * time.Second

// rebuild renders the artifact in the status once more, for a selection that lost its archive and
// has no successor that may replace it: from the sources of that time, if Flux still serves them,
// and the spec of that time. Signatures are not asked for again: the digest of that time is what
// makes it the same artifact, and that one stays served even when its source is not verified now.
func (r *CatalogSelectionReconciler) rebuild(ctx context.Context, before, cs *v1alpha1.CatalogSelection) error {
	last, err := readRecord(cs)
	if err != nil {
		return err
	}
	observed, err := last.sources(cs)
	if err != nil {
		return err
	}
	old := cs.DeepCopy()
	old.Spec = last.Spec
	opts, err := render.FromSpec(old)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, rebuildTimeout)
	defer cancel()
	loaded, err := r.load(bounded, observed)
	if err != nil {
		return err
	}
	result, err := render.Render(bounded, selectionSources(loaded), opts)
	if err != nil {
		return err
	}
	if result.Revision != cs.Status.Artifact.Revision {
		return fmt.Errorf("rendering it once more gives %s", bounds.ShortRevision(result.Revision))
	}
	artifact, err := r.store(cs, result, observed)
	if err != nil {
		return err
	}
	cs.Status.Artifact = artifact
	if err := r.patchStatus(ctx, before, cs); err != nil {
		return err
	}
	cs.DeepCopyInto(before)
	return r.announce(ctx, cs)
}

// sources returns the sources of the record as they were observed.
func (p publishedRecord) sources(cs *v1alpha1.CatalogSelection) ([]observedSource, error) {
	n := len(cs.Status.Sources)
	if n == 0 || len(p.URLs) != n || len(p.Spec.Sources) != n {
		return nil, errors.New("the sources of that time are not known")
	}
	observed := make([]observedSource, n)
	for i, s := range cs.Status.Sources {
		observed[i] = observedSource{
			kind: s.Kind, name: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, path: p.Spec.Sources[i].Path,
			format: p.Spec.Sources[i].Format, artifact: meta.Artifact{Revision: s.Revision, Digest: s.Digest, URL: p.URLs[i]},
		}
		if len(p.Carriers) == n {
			observed[i].catalogLocation = p.Carriers[i]
		}
	}
	return observed, nil
}
