// SPDX-License-Identifier: Apache-2.0

// Package source loads the catalogs of the sources of a CatalogSelection: it observes whether the objects of
// Flux are ready, verified and settled, finds the layer with the catalog, downloads and parses it, and caches
// the result. It must not know what a selection renders, publishes or holds.
package source

import (
	"context"
	"fmt"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Sources reads the sources of CatalogSelections. All exported fields are required, except for the bool.
type Sources struct {
	// Reader reads sources from the cache of the controller.
	Reader client.Reader
	// APIReader reads from the API server, not from the cache.
	APIReader client.Reader
	// Catalogs loads the catalogs of the sources.
	Catalogs *Catalogs
	// NoCrossNamespaceRefs refuses sources in other namespaces.
	NoCrossNamespaceRefs bool
}

// Observe reads the sources, in order. The error is for the first source that cannot be used, with the
// reason AccessDenied or SourceNotReady.
func (s *Sources) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection) ([]Observed, error) {
	observed := make([]Observed, 0, len(cs.Spec.Sources))
	for _, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs, ref)
		if err := s.MayRefer(cs, kind, key); err != nil {
			return nil, err
		}
		object, err := s.ready(ctx, kind, key)
		if err != nil {
			return nil, s.meant(ctx, cs, kind, key, err)
		}
		o := Observed{Kind: kind, Name: key, Place: render.LocationOf(ref), Artifact: *object.GetArtifact()}
		o.repository, _ = object.(*sourcev1.OCIRepository)
		if ref.RequireVerified {
			o.mustVerify, o.verified = true, verificationOf(object)
			if o.verified.signature == valid {
				o.verified = o.extracted()
			}
		}
		observed = append(observed, o)
	}
	return observed, nil
}

// load returns the sources with their catalogs, and sets the locations in observed. It calls step before each source.
func (s *Sources) load(ctx context.Context, observed []Observed, step func(Observed)) ([]Loaded, error) {
	loaded := make([]Loaded, len(observed))
	for i := range observed {
		if err := s.findRepository(ctx, &observed[i]); err != nil {
			return nil, err
		}
		step(observed[i])
		if err := s.locate(ctx, &observed[i]); err != nil {
			return nil, err
		}
		catalog, err := s.Catalogs.load(ctx, observed[i])
		if err != nil {
			return nil, err
		}
		loaded[i] = Loaded{Observed: observed[i], Catalog: catalog}
	}
	return loaded, nil
}

// Cached returns the sources with their catalogs and locations without a download, and reports whether all of them are in
// the cache. The error is for a source that violates the contract.
func (s *Sources) Cached(observed []Observed) ([]Loaded, bool, error) {
	loaded := make([]Loaded, len(observed))
	for i, o := range observed {
		catalog, ok, err := s.Catalogs.cached(&o)
		if err != nil || !ok {
			return nil, false, err
		}
		loaded[i] = Loaded{Observed: o, Catalog: catalog}
	}
	s.Catalogs.metrics.Hit(len(loaded))
	return loaded, true, nil
}

// MayRefer returns an error with the reason AccessDenied for a source of another namespace, if such
// references are forbidden.
func (s *Sources) MayRefer(cs *v1alpha1.CatalogSelection, kind string, key types.NamespacedName) error {
	if !s.NoCrossNamespaceRefs || key.Namespace == cs.Namespace {
		return nil
	}
	return failure.Because(v1alpha1.AccessDeniedReason, fmt.Errorf(
		"source %s %s is in another namespace, and cross-namespace references are forbidden "+
			"by --no-cross-namespace-refs", kind, key))
}

// ready returns a source with an artifact. Without one, the error has the message of the source.
func (s *Sources) ready(ctx context.Context, kind string, key types.NamespacedName) (Object, error) {
	object, err := s.get(ctx, kind, key)
	if err != nil {
		return nil, err
	}
	if !hasArtifact(object) {
		return nil, failure.Because(v1alpha1.SourceNotReadyReason, fmt.Errorf("source %s %s has no artifact yet: %s",
			kind, key, readinessIn(object).message))
	}
	return object, nil
}

// meant adds the likely name to the error of a source that does not exist. It names only sources of the selection's namespace: who
// writes a selection may be unable to list others.
func (s *Sources) meant(ctx context.Context, cs *v1alpha1.CatalogSelection, kind string, key types.NamespacedName, err error) error {
	list := lists()[kind]
	if list == nil || key.Namespace != cs.Namespace ||
		s.Reader.List(ctx, list, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy) != nil {
		return err
	}
	var names []string
	_ = apimeta.EachListItem(list, func(item runtime.Object) error { // it returns only what the function returns
		names = append(names, item.(client.Object).GetName())
		return nil
	})
	if slices.Contains(names, key.Name) { // it exists, and is not ready
		return err
	}
	return fmt.Errorf("%w%s", err, spelling.Meant(key.Name, names))
}

// get returns a source, with or without an artifact.
func (s *Sources) get(ctx context.Context, kind string, key types.NamespacedName) (Object, error) {
	object, known := Kinds()[kind]
	if !known {
		return nil, failure.Because(v1alpha1.InvalidSpecReason, fmt.Errorf("kind %s is not a source of catalogs", kind))
	}
	if err := s.Reader.Get(ctx, key, object); apierrors.IsNotFound(err) {
		return nil, failure.Because(v1alpha1.SourceNotReadyReason, fmt.Errorf("source %s %s does not exist", kind, key))
	} else if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("getting source %s %s: %w", kind, key, err))
	}
	return object, nil
}

// locate determines the location of the catalog of a source, by its manifest in the registry if necessary.
func (s *Sources) locate(ctx context.Context, o *Observed) (err error) {
	if o.hasContract() && o.Location == nil {
		o.Location, err = s.Catalogs.locationOf(ctx, *o)
	}
	return err
}

// findRepository reads the repository of a source that comes from the record of a publication, if a registry is asked
// for its catalog.
func (s *Sources) findRepository(ctx context.Context, o *Observed) error {
	if o.repository != nil || !o.hasContract() || o.Location != nil && !o.Location.fetched() {
		return nil
	}
	object, err := s.ready(ctx, o.Kind, o.Name)
	if err != nil {
		return err
	}
	o.repository, _ = object.(*sourcev1.OCIRepository)
	return nil
}

// Renew takes over the artifacts that Flux has now of the observed revisions: source-controller archives a revision again once it
// has restarted, and another Go compresses the same files to another digest.
func (s *Sources) Renew(ctx context.Context, observed []Observed) {
	for i, o := range observed {
		object, err := s.get(ctx, o.Kind, o.Name)
		if err == nil && hasArtifact(object) && object.GetArtifact().Revision == o.Artifact.Revision {
			observed[i].Artifact = *object.GetArtifact()
		}
	}
}

// Recall caches the locations of catalogs from the last publication, so that a restarted controller does not
// read a registry for published revisions. published are the sources of that publication, and locations the
// locations of their catalogs, in the same order.
func (s *Sources) Recall(observed []Observed, published []v1alpha1.SourceStatus, locations []*Location) {
	if len(locations) != len(published) {
		return
	}
	for _, o := range observed {
		i := slices.Index(published, o.Status())
		if i < 0 || locations[i] == nil || !o.hasContract() || s.Catalogs.lookups.Contains(o.lookupKey()) || !o.allows(*locations[i]) {
			continue
		}
		// An extracted layer is not sufficient once a signature is required.
		if locations[i].fetched() || !o.mustVerify || o.copied() {
			s.Catalogs.lookups.Add(o.lookupKey(), lookup{location: locations[i]})
		}
	}
}
