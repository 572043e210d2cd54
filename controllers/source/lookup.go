// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/guard"
)

// lookup is the location of a catalog, or the violation of the contract.
type lookup struct {
	location *Location
	violated error
}

// maxLookups bounds the number of cached lookups.
const maxLookups = 4096

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
		done := lookup{location: found, violated: err}
		c.lookups.Add(key, done)
		return done, nil
	})
	if err != nil {
		return nil, err
	}
	return found.location, found.violated
}

// readManifest fetches and reads the manifest of the artifact, by the digest in its revision.
func (f *fetcher) readManifest(ctx context.Context, source Observed) (*Location, error) {
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
	err := f.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) (err error) {
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
