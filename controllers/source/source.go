// Package source loads the catalogs of the sources of a CatalogSelection: it observes whether the objects of
// Flux are ready, verified and settled, finds the layer with the catalog, downloads and parses it, and caches
// the result. It must not know what a selection renders, publishes or holds.
package source

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
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

// Object is the common interface of all kinds of Flux sources.
type Object interface {
	client.Object
	meta.ObjectWithConditions
	GetArtifact() *meta.Artifact
}

// Kinds maps each kind of source that a CatalogSelection supports to an empty object.
func Kinds() map[string]Object {
	return map[string]Object{
		sourcev1.OCIRepositoryKind:    &sourcev1.OCIRepository{},
		sourcev1.GitRepositoryKind:    &sourcev1.GitRepository{},
		sourcev1.BucketKind:           &sourcev1.Bucket{},
		sourcev1.ExternalArtifactKind: &sourcev1.ExternalArtifact{},
	}
}

// Observed is a source with the artifact that it had when it was observed.
type Observed struct {
	Kind string
	Name types.NamespacedName
	// Place of the catalog in the artifact, as the spec has it.
	Place    render.Place
	Artifact meta.Artifact
	// Filter is what Flux took from the revision, by guard.FilterOf.
	Filter string
	// Location is the place of the catalog, nil if it is not known, or if the source has no contract.
	Location *Location

	// repository is the source itself, if it is an OCIRepository.
	repository *sourcev1.OCIRepository
	// mustVerify is true if a signature is required, and verified is its state.
	mustVerify bool
	verified   verification
}

// Loaded is a source with its catalog.
type Loaded struct {
	Observed
	Catalog *catalog.Catalog
}

// Status returns the entry of the source in status.sources.
func (s Observed) Status() v1alpha1.SourceStatus {
	return v1alpha1.SourceStatus{
		Kind: s.Kind, Name: s.Name.Name, Namespace: s.Name.Namespace,
		Revision: s.Artifact.Revision, Digest: s.Artifact.Digest,
	}
}

// Guarded converts sources for the safeguards, in the same order.
func Guarded(loaded []Loaded) []guard.Source {
	sources := make([]guard.Source, len(loaded))
	for i, l := range loaded {
		sources[i] = guard.Source{
			Kind: l.Kind, Name: l.Name, Path: l.Place.Path, Checksum: guard.Checksum(l.Artifact.Revision),
			Digest: l.Artifact.Digest, Filter: l.Filter, Catalog: l.Catalog,
		}
	}
	return sources
}

// Observe reads the sources, in order. The error is that of the first source that cannot be used, with the
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
			return nil, err
		}
		o := Observed{Kind: kind, Name: key, Place: render.PlaceOf(ref), Artifact: *object.GetArtifact(), Filter: filterOf(object)}
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

// filterOf returns what Flux took from the revision of the artifact of a source.
func filterOf(object Object) string {
	switch s := object.(type) {
	case *sourcev1.OCIRepository:
		if selector := s.Status.ObservedLayerSelector; selector != nil {
			return guard.FilterOf(s.Status.ObservedIgnore, selector.MediaType, selector.Operation)
		}
		return guard.FilterOf(s.Status.ObservedIgnore, "", "")
	case *sourcev1.GitRepository:
		return guard.FilterOf(s.Status.ObservedIgnore, "", "")
	case *sourcev1.Bucket:
		return guard.FilterOf(s.Status.ObservedIgnore, "", "")
	}
	return ""
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
// the cache. The error is that of a source that violates the contract.
func (s *Sources) Cached(observed []Observed) ([]Loaded, bool, error) {
	loaded := make([]Loaded, len(observed))
	for i, o := range observed {
		catalog, ok, err := s.Catalogs.cached(&o)
		if err != nil || !ok {
			return nil, false, err
		}
		loaded[i] = Loaded{Observed: o, Catalog: catalog}
	}
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

func hasArtifact(object Object) bool {
	artifact := object.GetArtifact()
	return artifact != nil && artifact.URL != "" && artifact.Digest != ""
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
