package controllers

import (
	"context"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// lastPublished returns what a new render is compared with; nothing before the first publication.
// The sources of that time come from the cache, or from Flux, if it still serves them.
func (r *CatalogSelectionReconciler) lastPublished(cs *v1alpha1.CatalogSelection) (guard.Published, error) {
	if cs.Status.Artifact == nil {
		return guard.Published{}, nil
	}
	last, err := unpack(cs.Status.Published)
	if err != nil {
		return guard.Published{}, err
	}
	then := func(ctx context.Context) ([]guard.Source, error) {
		observed, err := last.sources(cs)
		if err != nil {
			return nil, err
		}
		bounded, cancel := context.WithTimeout(ctx, rebuildTimeout)
		defer cancel()
		loaded, err := r.load(bounded, observed)
		return guardSources(loaded), err
	}
	return guard.Published{Spec: last.Spec, Definitions: last.Definitions, Sources: then}, nil
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
