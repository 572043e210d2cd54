package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/guard"
)

// catalogLocation says where the catalog of an OCIRepository is, as its manifest has it. It is true for ever
// of one artifact, which digests name.
type catalogLocation struct {
	// Layer is to be fetched from the registry. Nil: source-controller took the right layer, and the
	// artifact of the OCIRepository is the catalog.
	Layer *v1.Descriptor `json:"layer,omitempty"`
}

// judgement is the location of a catalog, or why there is none.
type judgement struct {
	catalogLocation *catalogLocation
	violated        error
}

// maxJudged bounds the number of judgements that are kept.
const maxJudged = 4096

// hasContract reports whether the manifest decides what of the source is the catalog.
func (s observedSource) hasContract() bool {
	return s.kind == sourcev1.OCIRepositoryKind && s.format != v1alpha1.FormatApplications
}

// judgementKey has all that a judgement depends on, and whose it is: who knows the digest of a private
// catalog has not seen it yet.
func (s observedSource) judgementKey() string {
	return fmt.Sprintf("%s %s %s %s %t", s.name, s.artifact.Revision, s.artifact.Digest, s.artifact.URL, s.mustVerify)
}

// catalogLocationOf returns where the catalog of a source with a contract is. The manifest is fetched once.
func (c *Catalogs) catalogLocationOf(ctx context.Context, source observedSource) (*catalogLocation, error) {
	key := source.judgementKey()
	if known, ok := c.judgements.Get(key); ok {
		return known.catalogLocation, known.violated
	}
	found, err, _ := c.flights.Do("manifest "+key, func() (any, error) {
		found, err := c.judge(ctx, source)
		if err != nil && reasonOf(err) != v1alpha1.ContractViolatedReason {
			return nil, err // may be another the next time
		}
		j := judgement{catalogLocation: found, violated: err}
		c.judgements.Add(key, j)
		return j, nil
	})
	if err != nil {
		return nil, err
	}
	j := found.(judgement)
	return j.catalogLocation, j.violated
}

// judge fetches the manifest of the artifact, by the digest in its revision, and reads it.
func (c *Catalogs) judge(ctx context.Context, source observedSource) (*catalogLocation, error) {
	manifest := digest.Digest(guard.Checksum(source.artifact.Revision))
	where := fmt.Sprintf("source %s: manifest %s of %s", source.name, manifest, source.repository.Spec.URL)
	violated := func(err error) error {
		return fail(v1alpha1.ContractViolatedReason, fmt.Errorf("%s: %w", where, err))
	}
	if err := manifest.Validate(); err != nil {
		return nil, violated(fmt.Errorf("the revision %s has no digest", source.artifact.Revision))
	}
	var descriptor v1.Descriptor
	var raw []byte
	err := c.withRegistry(ctx, source, func(ctx context.Context, from *connection) (err error) {
		descriptor, raw, err = registry.FetchManifest(ctx, from.Repository, manifest.String())
		return err
	})
	var large *registry.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, violated(err)
	case err != nil:
		return nil, fail(v1alpha1.FetchFailedReason, fmt.Errorf("fetching %s: %w", where, err))
	}
	found, err := contract.Read(descriptor.MediaType, raw)
	if err != nil {
		return nil, violated(err)
	}
	carried, err := source.carry(found)
	if err != nil {
		return nil, violated(err)
	}
	return carried, nil
}

// copied reports whether source-controller copied the layer as it is.
func (s observedSource) copied() bool {
	selector := s.repository.Status.ObservedLayerSelector
	return selector != nil && selector.Operation == sourcev1.OCILayerCopy
}

// carry compares the artifact with the layer of the catalog. What source-controller extracted cannot be
// compared, what it copied can.
func (s observedSource) carry(found contract.Contract) (*catalogLocation, error) {
	mediaType := ""
	if selector := s.repository.Status.ObservedLayerSelector; selector != nil {
		mediaType = selector.MediaType
	}
	switch {
	case !found.CarriedBy(mediaType), s.mustVerify && !s.copied():
		return &catalogLocation{Layer: &found.Layer}, nil
	case !s.copied():
		return &catalogLocation{}, nil
	}
	artifact := digest.Digest(s.artifact.Digest)
	switch {
	case artifact.Validate() == nil && artifact.Algorithm() != found.Layer.Digest.Algorithm():
		return &catalogLocation{Layer: &found.Layer}, nil // source-controller runs with another --artifact-digest-algo
	case artifact != found.Layer.Digest:
		return nil, fmt.Errorf("the layer with the catalog is %s, but the OCIRepository, which copies it, has %s",
			found.Layer.Digest, artifact)
	}
	return &catalogLocation{}, nil
}

// failedFetch is the error of a registry that was slow to fail. It is returned to all who ask until it expires.
type failedFetch struct {
	err   error
	until time.Time
}

// maxFailedFetches bounds their number. What fails within slow is not kept.
const (
	maxFailedFetches = 1024
	slow             = time.Second
)

// withRegistry does something with the repository of the source, as its OCIRepository reaches it. A
// registry that hangs is left alone for as long as it kept a worker waiting, so that a hundred
// selections of one source do not wait for it in turns while all others wait for them.
func (c *Catalogs) withRegistry(ctx context.Context, source observedSource, do func(context.Context, *connection) error) error {
	key := fmt.Sprintf("%s %d", source.name, source.repository.Generation)
	if last, ok := c.failedFetches.Get(key); ok && time.Now().Before(last.until) {
		return last.err
	}
	start := time.Now()
	err := c.ask(ctx, source, do)
	if took := time.Since(start); err != nil && took > slow && ctx.Err() == nil {
		c.failedFetches.Add(key, failedFetch{err: err, until: time.Now().Add(took)})
	}
	return err
}

func (c *Catalogs) ask(ctx context.Context, source observedSource, do func(context.Context, *connection) error) error {
	timeout := fetchTimeout
	if own := source.repository.Spec.Timeout; own != nil && own.Duration < timeout {
		timeout = own.Duration
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	from, err := c.registries.connect(ctx, accessOf(source.repository))
	if err != nil {
		return err
	}
	defer from.close()
	return from.plain(do(ctx, from))
}

// loadLayer loads the catalog from a layer in the registry, which source-controller passed over.
func (c *Catalogs) loadLayer(ctx context.Context, source observedSource) (*catalog.Catalog, error) {
	layer := *source.catalogLocation.Layer
	return c.loads.layer(ctx, source, layer.Size, func() ([]byte, error) { return c.fetchLayer(ctx, source, layer) })
}

func (c *Catalogs) fetchLayer(ctx context.Context, source observedSource, layer v1.Descriptor) ([]byte, error) {
	var raw []byte
	err := c.withRegistry(ctx, source, func(ctx context.Context, from *connection) (err error) {
		raw, err = registry.FetchLayer(ctx, from.Repository, layer, archive.DefaultLimits().Compressed)
		return err
	})
	var large *registry.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, fail(v1alpha1.InvalidArchiveReason, fmt.Errorf("source %s: %w", source.name, err))
	case err != nil:
		return nil, fail(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the layer %s of source %s: %w", layer.Digest, source.name, err))
	}
	return raw, nil
}

// locate finds out where the catalog of a source is, in the registry if it has to.
func (r *CatalogSelectionReconciler) locate(ctx context.Context, s *observedSource) (err error) {
	if !s.hasContract() || s.catalogLocation != nil && s.catalogLocation.Layer == nil {
		return nil
	}
	if s.repository == nil { // it is from the record of a publication
		source, err := r.sourceOf(ctx, s.kind, s.name)
		if err != nil {
			return err
		}
		s.repository, _ = source.(*sourcev1.OCIRepository)
	}
	if s.catalogLocation == nil {
		s.catalogLocation, err = r.Catalogs.catalogLocationOf(ctx, *s)
	}
	return err
}

// recall looks up what is not in memory in the record of the last publication, so that a controller
// that starts anew needs no registry for what it has published.
func (r *CatalogSelectionReconciler) recall(cs *v1alpha1.CatalogSelection, observed []observedSource) {
	unknown := func(s observedSource) bool {
		return s.hasContract() && !r.Catalogs.judgements.Contains(s.judgementKey())
	}
	if !slices.ContainsFunc(observed, unknown) {
		return
	}
	last, err := readRecord(cs)
	if err != nil || len(last.Carriers) != len(cs.Status.Sources) {
		return
	}
	for _, s := range observed {
		i := slices.Index(cs.Status.Sources, s.status())
		if i < 0 || last.Carriers[i] == nil || !unknown(s) {
			continue
		}
		// What was extracted while nobody asked for a signature is not enough for one.
		if last.Carriers[i].Layer != nil || !s.mustVerify || s.copied() {
			r.Catalogs.judgements.Add(s.judgementKey(), judgement{catalogLocation: last.Carriers[i]})
		}
	}
}
