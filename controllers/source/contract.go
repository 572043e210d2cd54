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
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/guard"
)

// Location is the place of the catalog of an OCIRepository, according to its manifest. It never changes for an
// artifact, which is identified by digests.
type Location struct {
	// Layer is fetched from the registry. Nil: source-controller has selected the right layer, and the artifact
	// of the OCIRepository is the catalog.
	Layer *v1.Descriptor `json:"layer,omitempty"`
	// Image is the manifest of a container image, whose layers have the catalog together. It is not that of an index.
	Image *v1.Descriptor `json:"image,omitempty"`
	// Format of the catalog. Empty: the content decides.
	Format string `json:"format,omitempty"`
}

// lookup is the location of a catalog, or the violation of the contract.
type lookup struct {
	location *Location
	violated error
}

// maxLookups bounds the number of cached lookups.
const maxLookups = 4096

// fetched reports whether the catalog is fetched from the registry, and is not in the artifact of the OCIRepository.
func (l *Location) fetched() bool { return l != nil && (l.Layer != nil || l.Image != nil) }

// hasContract reports whether the manifest determines which part of the source is the catalog. It may be that of an
// image if the format is FileBased.
func (s Observed) hasContract() bool {
	return s.Kind == sourcev1.OCIRepositoryKind && (s.isAuto() || s.Place.Format == v1alpha1.FormatFileBased)
}

// isAuto reports whether the spec leaves the format open.
func (s Observed) isAuto() bool { return s.Place.Format == "" || s.Place.Format == v1alpha1.FormatAuto }

// place returns the place of the catalog in the artifact, with the format that the manifest names.
func (s Observed) place() render.Place {
	place := s.Place
	if s.hasContract() && s.isAuto() && s.Location != nil && s.Location.Format != "" {
		place.Format = s.Location.Format
	}
	return place
}

// lookupKey contains all inputs of a lookup, and the name of the source: the digest of a private catalog must
// not give access to it.
func (s Observed) lookupKey() string {
	return fmt.Sprintf("%s %s %s %s %t %t", s.Name, s.Artifact.Revision, s.Artifact.Digest, s.Artifact.URL, s.mustVerify, s.isAuto())
}

// locationOf returns the location of the catalog of a source with a contract. It fetches the manifest once.
func (c *Catalogs) locationOf(ctx context.Context, source Observed) (*Location, error) {
	key := source.lookupKey()
	if cached, ok := c.lookups.Get(key); ok {
		return cached.location, cached.violated
	}
	found, err := c.looking.do(ctx, key+" "+source.settings(), "the manifest of source "+source.Name.String(), func(ctx context.Context) (lookup, error) {
		found, err := c.readManifest(ctx, source)
		if err != nil && failure.ReasonOf(err) != v1alpha1.ContractViolatedReason {
			return lookup{}, err // temporary, so not cached
		}
		l := lookup{location: found, violated: err}
		c.lookups.Add(key, l)
		return l, nil
	})
	if err != nil {
		return nil, err
	}
	return found.location, found.violated
}

// readManifest fetches and reads the manifest of the artifact, by the digest in its revision.
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
	var image registry.Image
	var raw []byte
	err := c.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) (err error) {
		if descriptor, raw, err = registry.FetchManifest(ctx, from.Repository, manifest.String()); err != nil {
			return err
		}
		if registry.MayBeImage(descriptor.MediaType, raw) {
			image, err = registry.FetchImage(ctx, from.Repository, descriptor, raw)
		}
		return err
	})
	switch {
	case isInvalid(err):
		return nil, violated(err)
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching %s: %w", where, err))
	}
	location, err := source.locationBy(descriptor, raw, image)
	if err != nil {
		return nil, violated(err)
	}
	return location, nil
}

// isInvalid reports whether an error is about the content of a registry: fetching it again fails again.
func isInvalid(err error) bool {
	var large *registry.TooLargeError
	var image *registry.ImageError
	return errors.As(err, &large) || errors.As(err, &image)
}

// locationBy returns the location of the catalog by a manifest, and by the image that it is of, if it is of one.
func (s Observed) locationBy(manifest v1.Descriptor, raw []byte, image registry.Image) (*Location, error) {
	if image.Manifest.Digest != "" {
		_, err := contract.CatalogDirectory(image.Labels)
		return &Location{Image: &image.Manifest, Format: v1alpha1.FormatFileBased}, err
	}
	if s.isAuto() {
		found, err := contract.Read(manifest.MediaType, raw)
		if err != nil {
			return nil, err
		}
		return s.locationIn(found)
	}
	// Of an artifact that is no image, source-controller selects the layer, as with the other formats.
	if s.mustVerify && !s.copied() {
		return nil, errors.New("it is not the manifest of an image, and files that Flux extracts from a layer are not compared with the signed digest: " +
			"set format: Auto, or spec.layerSelector.operation of the OCIRepository to copy")
	}
	return &Location{Format: v1alpha1.FormatFileBased}, nil
}

// copied reports whether source-controller copied the layer unchanged.
func (s Observed) copied() bool {
	selector := s.repository.Status.ObservedLayerSelector
	return selector != nil && selector.Operation == sourcev1.OCILayerCopy
}

// locationIn compares the artifact with the layer that contains the catalog, and returns the location of the
// catalog. A copied artifact can be compared, an extracted one cannot.
func (s Observed) locationIn(found contract.Contract) (*Location, error) {
	extracted, carried := &Location{}, &Location{Layer: &found.Layer}
	if found.Format != v1alpha1.FormatAuto {
		extracted.Format, carried.Format = found.Format, found.Format
	}
	mediaType := ""
	if selector := s.repository.Status.ObservedLayerSelector; selector != nil {
		mediaType = selector.MediaType
	}
	switch {
	case !found.CarriedBy(mediaType), s.mustVerify && !s.copied():
		return carried, nil
	case !s.copied():
		return extracted, nil
	}
	artifact := digest.Digest(s.Artifact.Digest)
	switch {
	case artifact.Validate() == nil && artifact.Algorithm() != found.Layer.Digest.Algorithm():
		return carried, nil // source-controller runs with another --artifact-digest-algo
	case artifact != found.Layer.Digest:
		return nil, fmt.Errorf("the layer with the catalog is %s, but the OCIRepository, which copies it, has %s",
			found.Layer.Digest, artifact)
	}
	return extracted, nil
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

// Recall caches the locations of catalogs from the last publication, so that a restarted controller does not
// read a registry for published revisions. published are the sources of that publication, and locations those
// of their catalogs, in the same order.
func (s *Sources) Recall(observed []Observed, published []v1alpha1.SourceStatus, locations []*Location) {
	if len(locations) != len(published) {
		return
	}
	for _, o := range observed {
		i := slices.Index(published, o.Status())
		if i < 0 || locations[i] == nil || !o.hasContract() || s.Catalogs.lookups.Contains(o.lookupKey()) {
			continue
		}
		if !o.allows(*locations[i]) {
			continue
		}
		// An extracted layer is not sufficient once a signature is required.
		if locations[i].fetched() || !o.mustVerify || o.copied() {
			s.Catalogs.lookups.Add(o.lookupKey(), lookup{location: locations[i]})
		}
	}
}

// allows reports whether the source can have the location with the format in its spec, which may have changed. By the
// format Auto, only images are of the format FileBased.
func (s Observed) allows(l Location) bool {
	return l.Image != nil || s.isAuto() == (l.Format != v1alpha1.FormatFileBased)
}
