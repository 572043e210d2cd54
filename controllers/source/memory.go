package source

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
)

// Memory for loading catalogs, independent of the number of workers: together half of the memory limit in
// config/manager, of which --catalog-cache-bytes is a quarter.
const (
	// parseBytes is for reading archives and parsing catalogs.
	parseBytes = 384 << 20
	// layerBytes is for layers in memory, which come from a registry: at least two.
	layerBytes = 128 << 20
	// measureBytes is for measuring an archive: the paths of its files, at most 16 MiB, and the buffers of
	// the decompressor.
	measureBytes = 64 << 20
)

// loads limits the memory for loading. The semaphores are fair. They are acquired in the order of the fields,
// which excludes deadlocks.
type loads struct {
	layers, parsing *semaphore.Weighted
}

func newLoads() loads {
	return loads{layers: semaphore.NewWeighted(layerBytes), parsing: semaphore.NewWeighted(parseBytes)}
}

// acquire waits for bytes of the memory, at most for all of it, and returns the function that releases them.
func acquire(ctx context.Context, memory *semaphore.Weighted, all, bytes int64) (release func(), err error) {
	bytes = min(max(bytes, 0), all)
	if err := memory.Acquire(ctx, bytes); err != nil {
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("waiting until other catalogs are loaded: %w", err))
	}
	return func() { memory.Release(bytes) }, nil
}

// layer fetches a layer of this size, and parses it.
func (l loads) layer(ctx context.Context, source Observed, size int64, fetch func() ([]byte, error)) (*catalog.Catalog, error) {
	release, err := acquire(ctx, l.layers, layerBytes, min(size, archive.DefaultLimits().Compressed))
	if err != nil {
		return nil, err
	}
	defer release()
	raw, err := fetch()
	if err != nil {
		return nil, err
	}
	return l.parse(ctx, source, bytes.NewReader(raw))
}

// parse loads the catalog of a source from an archive, once the memory is available.
func (l loads) parse(ctx context.Context, source Observed, content io.ReadSeeker) (*catalog.Catalog, error) {
	needed, err := l.measure(ctx, source, content)
	if err != nil {
		return nil, err
	}
	release, err := acquire(ctx, l.parsing, parseBytes, needed)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading the artifact of source %s: %w", source.Name, err))
	}
	loaded, err := render.LoadArchive(ctx, source.Name.String(), content, source.place())
	return loaded, failure.Because(v1alpha1.FetchFailedReason, err)
}

func (l loads) measure(ctx context.Context, source Observed, content io.Reader) (int64, error) {
	release, err := acquire(ctx, l.parsing, parseBytes, measureBytes)
	if err != nil {
		return 0, err
	}
	defer release()
	needed, err := render.MeasureArchive(ctx, source.Name.String(), content, source.place())
	return needed, failure.Because(v1alpha1.FetchFailedReason, err)
}
