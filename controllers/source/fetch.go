// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fluxcd/pkg/http/fetch"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/loading"
)

const archiveFile = "source.tar.gz"

// fetchTimeout bounds a download with all its retries: a source that sends without end must not keep its turn.
const fetchTimeout = 2 * time.Minute

// fetcher fetches the catalogs of sources: from the artifacts of Flux, or from the registry.
type fetcher struct {
	archives   *fetch.ArchiveFetcher
	registries *registries.Registries
	failures   *transfers.Failures
	// memory bounds what is parsed at a time.
	memory  *memory.Budget
	traffic *metrics.Traffic
}

// withRegistry calls do with a connection to the repository of the source, unless it has just failed. A connection belongs
// to the namespace of the source: the proxy or the password of one tenant proves nothing about the host.
func (f *fetcher) withRegistry(ctx context.Context, source Observed, do func(context.Context, *registries.Connection) error) error {
	timeout := fetchTimeout
	if own := source.repository.Spec.Timeout; own != nil && own.Duration < timeout {
		timeout = own.Duration
	}
	access := registries.OfSource(source.repository)
	return f.failures.Do(ctx, access.Connection(), access.Host(), timeout, func(ctx context.Context) error {
		from, err := f.registries.Connect(ctx, access)
		if err != nil {
			return err
		}
		defer from.Close()
		return from.Plain(do(ctx, from))
	})
}

// fetch loads the catalog of a source. What it has in common with the one before, nil for none, is not parsed again.
func (f *fetcher) fetch(ctx context.Context, source Observed, before *catalog.Catalog) (*catalog.Catalog, error) {
	switch at := source.Location; {
	case at == nil:
	case at.Image != nil:
		return f.pull(ctx, source, before, "image "+at.Image.Digest.String(), unpackImage)
	case at.Layer != nil:
		return f.pull(ctx, source, before, "layer "+at.Layer.Digest.String(), copyLayer)
	}
	return f.download(ctx, source, before)
}

func (f *fetcher) download(ctx context.Context, source Observed, before *catalog.Catalog) (*catalog.Catalog, error) {
	limit := archive.DefaultLimits().Compressed
	if size := source.Artifact.Size; size != nil && *size > limit {
		return nil, failure.Because(v1alpha1.InvalidArchiveReason, fmt.Errorf(
			"the artifact of source %s has %d bytes, more than %d", source.Name, *size, limit))
	}
	dir, err := newFetchDir()
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("making a temporary directory: %w", err))
	}
	defer os.RemoveAll(dir)
	name := source.Name.String()
	// The server of the artifacts is reached without credentials and proxy.
	host := hostOf(source.Artifact.URL)
	err = f.failures.Do(ctx, source.Name.Namespace+" artifacts "+host, host, fetchTimeout, func(ctx context.Context) error {
		return f.archives.FetchWithContext(ctx, source.Artifact.URL, source.Artifact.Digest, dir)
	})
	if err != nil {
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the artifact of source %s: %w", name, err))
	}
	file, err := os.OpenInRoot(dir, archiveFile)
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("opening the artifact of source %s: %w", name, err))
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		f.traffic.Downloaded(info.Size())
	}
	return f.parse(ctx, source, before, file)
}

// pull loads the catalog from content of the registry that source-controller has not selected or extracted, which write
// copies to a file: the content is of any size, most of an image is no part of the catalog, and a registry that sends
// slowly must not take memory that others need.
func (f *fetcher) pull(
	ctx context.Context, source Observed, before *catalog.Catalog, content string,
	write func(context.Context, *registries.Connection, Observed, io.Writer) error,
) (*catalog.Catalog, error) {
	file, err := memory.NewFile("winnow-source-")
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, err)
	}
	defer file.Close()
	err = f.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) error {
		return write(ctx, from, source, file)
	})
	switch {
	case isInvalid(err):
		return nil, failure.Because(v1alpha1.InvalidArchiveReason, fmt.Errorf("source %s: the %s: %w", source.Name, content, err))
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the %s of source %s: %w", content, source.Name, err))
	}
	return f.parse(ctx, source, before, file)
}

func copyLayer(ctx context.Context, from *registries.Connection, source Observed, to io.Writer) error {
	return registry.CopyLayer(ctx, from.Repository, *source.Location.Layer, archive.DefaultLimits().Compressed, to)
}

// unpackImage writes the catalog of an image as an archive. The lookup found the manifest, by its digest.
func unpackImage(ctx context.Context, from *registries.Connection, source Observed, to io.Writer) error {
	manifest, raw, err := registry.FetchManifest(ctx, from.Repository, source.Location.Image.Digest.String())
	if err != nil {
		return err
	}
	image, err := registry.FetchImage(ctx, from.Repository, manifest, raw)
	if err != nil {
		return err
	}
	directory, err := contract.CatalogDirectory(image.Labels)
	if err != nil {
		return err
	}
	return image.Unpack(ctx, from.Repository, directory, to, registry.UnpackLimits{})
}

// isInvalid reports whether an error is about the content of a registry: fetching it again fails again.
func isInvalid(err error) bool {
	var large *registry.TooLargeError
	var image *registry.ImageError
	return errors.As(err, &large) || errors.As(err, &image)
}

// measureBytes is for measuring an archive: the paths of its files, at most 16 MiB, and the buffers of the
// decompressor.
const measureBytes = 64 << 20

// parse loads the catalog of a source from an archive, once the memory is available. It reads content from its start.
func (f *fetcher) parse(
	ctx context.Context, source Observed, before *catalog.Catalog, content io.ReadSeeker,
) (loaded *catalog.Catalog, err error) {
	var needed int64
	err = f.within(ctx, measureBytes, source, content, func() (err error) {
		needed, err = loading.Measure(ctx, source.Name.String(), content, source.place())
		return err
	})
	if err != nil {
		return nil, err
	}
	err = f.within(ctx, needed, source, content, func() (err error) {
		loaded, err = render.LoadRevision(ctx, source.Name.String(), content, source.place(), before)
		return err
	})
	return loaded, err
}

// within calls read with the content at its start, once this much memory is available.
func (f *fetcher) within(ctx context.Context, bytes int64, source Observed, content io.Seeker, read func() error) error {
	release, err := f.memory.Acquire(ctx, bytes)
	if err != nil {
		return failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("waiting until other catalogs are loaded: %w", err))
	}
	defer release()
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading the artifact of source %s: %w", source.Name, err))
	}
	return failure.Because(v1alpha1.FetchFailedReason, read())
}
