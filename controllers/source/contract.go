package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/guard"
)

// Location says where the catalog of an OCIRepository is, as its manifest has it. It never
// changes for an artifact, which is named by digests.
type Location struct {
	// Layer is to be fetched from the registry. Nil: source-controller took the right layer, and the
	// artifact of the OCIRepository is the catalog.
	Layer *v1.Descriptor `json:"layer,omitempty"`
}

// judgement is the location of a catalog, or why there is none.
type judgement struct {
	location *Location
	violated error
}

// maxJudged bounds the number of judgements that are kept.
const maxJudged = 4096

// hasContract reports whether the manifest decides what of the source is the catalog.
func (s Observed) hasContract() bool {
	return s.Kind == sourcev1.OCIRepositoryKind && s.Format != v1alpha1.FormatApplications
}

// judgementKey has all that a judgement depends on, and whose it is: who knows the digest of a private
// catalog has not seen it yet.
func (s Observed) judgementKey() string {
	return fmt.Sprintf("%s %s %s %s %t", s.Name, s.Artifact.Revision, s.Artifact.Digest, s.Artifact.URL, s.mustVerify)
}

// locationOf returns where the catalog of a source with a contract is. The manifest is fetched once.
func (c *Catalogs) locationOf(ctx context.Context, source Observed) (*Location, error) {
	key := source.judgementKey()
	if known, ok := c.judgements.Get(key); ok {
		return known.location, known.violated
	}
	found, err, _ := c.flights.Do("manifest "+key, func() (any, error) {
		found, err := c.readManifest(ctx, source)
		if err != nil && failure.ReasonOf(err) != v1alpha1.ContractViolatedReason {
			return nil, err // may be another the next time
		}
		j := judgement{location: found, violated: err}
		c.judgements.Add(key, j)
		return j, nil
	})
	if err != nil {
		return nil, err
	}
	j := found.(judgement)
	return j.location, j.violated
}

// readManifest fetches the manifest of the artifact, by the digest in its revision, and reads it.
func (c *Catalogs) readManifest(ctx context.Context, source Observed) (*Location, error) {
	manifest := digest.Digest(guard.Checksum(source.Artifact.Revision))
	where := fmt.Sprintf("source %s: manifest %s of %s", source.Name, manifest, source.repository.Spec.URL)
	violated := func(err error) error {
		return failure.Because(v1alpha1.ContractViolatedReason, fmt.Errorf("%s: %w", where, err))
	}
	if err := manifest.Validate(); err != nil {
		return nil, violated(fmt.Errorf("the revision %s has no digest", source.Artifact.Revision))
	}
	var descriptor v1.Descriptor
	var raw []byte
	err := c.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) (err error) {
		descriptor, raw, err = registry.FetchManifest(ctx, from.Repository, manifest.String())
		return err
	})
	var large *registry.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, violated(err)
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching %s: %w", where, err))
	}
	found, err := contract.Read(descriptor.MediaType, raw)
	if err != nil {
		return nil, violated(err)
	}
	location, err := source.locationIn(found)
	if err != nil {
		return nil, violated(err)
	}
	return location, nil
}

// copied reports whether source-controller copied the layer as it is.
func (s Observed) copied() bool {
	selector := s.repository.Status.ObservedLayerSelector
	return selector != nil && selector.Operation == sourcev1.OCILayerCopy
}

// locationIn compares the artifact with the layer that holds the catalog, and returns where that is. What
// source-controller copied can be compared, what it extracted cannot.
func (s Observed) locationIn(found contract.Contract) (*Location, error) {
	mediaType := ""
	if selector := s.repository.Status.ObservedLayerSelector; selector != nil {
		mediaType = selector.MediaType
	}
	switch {
	case !found.CarriedBy(mediaType), s.mustVerify && !s.copied():
		return &Location{Layer: &found.Layer}, nil
	case !s.copied():
		return &Location{}, nil
	}
	artifact := digest.Digest(s.Artifact.Digest)
	switch {
	case artifact.Validate() == nil && artifact.Algorithm() != found.Layer.Digest.Algorithm():
		return &Location{Layer: &found.Layer}, nil // source-controller runs with another --artifact-digest-algo
	case artifact != found.Layer.Digest:
		return nil, fmt.Errorf("the layer with the catalog is %s, but the OCIRepository, which copies it, has %s",
			found.Layer.Digest, artifact)
	}
	return &Location{}, nil
}

// locate finds out where the catalog of a source is, in the registry if it has to.
func (s *Sources) locate(ctx context.Context, o *Observed) (err error) {
	if !o.hasContract() || o.Location != nil && o.Location.Layer == nil {
		return nil
	}
	if o.repository == nil { // it is from the record of a publication
		object, err := s.ready(ctx, o.Kind, o.Name)
		if err != nil {
			return err
		}
		o.repository, _ = object.(*sourcev1.OCIRepository)
	}
	if o.Location == nil {
		o.Location, err = s.Catalogs.locationOf(ctx, *o)
	}
	return err
}

// Recall takes the locations of catalogs that are not in memory from the last publication, so that a
// controller that starts anew needs no registry for what it has published. published are the sources of
// that time, and locations those of their catalogs, in the same order.
func (s *Sources) Recall(observed []Observed, published []v1alpha1.SourceStatus, locations []*Location) {
	if len(locations) != len(published) {
		return
	}
	for _, o := range observed {
		i := slices.Index(published, o.Status())
		if i < 0 || locations[i] == nil || !o.hasContract() || s.Catalogs.judgements.Contains(o.judgementKey()) {
			continue
		}
		// What was extracted while no signature was required is not enough for one.
		if locations[i].Layer != nil || !o.mustVerify || o.copied() {
			s.Catalogs.judgements.Add(o.judgementKey(), judgement{location: locations[i]})
		}
	}
}
