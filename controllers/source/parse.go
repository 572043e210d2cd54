// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/loading"
)

// measureBytes is for measuring an archive: the paths of its files, at most 16 MiB, and the buffers of the
// decompressor.
const measureBytes = 64 << 20

// parser parses catalogs within the memory that all of them share.
type parser struct{ memory *memory.Budget }

// parse loads the catalog of a source from an archive, once the memory is available. It reads content from its start.
func (p parser) parse(ctx context.Context, source Observed, content io.ReadSeeker) (*catalog.Catalog, error) {
	var needed int64
	measure := func() (err error) {
		needed, err = loading.Measure(ctx, source.Name.String(), content, source.place())
		return failure.Because(v1alpha1.FetchFailedReason, err)
	}
	var loaded *catalog.Catalog
	load := func() (err error) {
		loaded, err = render.LoadArchive(ctx, source.Name.String(), content, source.place())
		return failure.Because(v1alpha1.FetchFailedReason, err)
	}
	if err := p.within(ctx, measureBytes, source, content, measure); err != nil {
		return nil, err
	}
	return loaded, p.within(ctx, needed, source, content, load)
}

// within calls read with the content at its start, once this much memory is available.
func (p parser) within(ctx context.Context, bytes int64, source Observed, content io.Seeker, read func() error) error {
	release, err := p.memory.Acquire(ctx, bytes)
	if err != nil {
		return failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("waiting until other catalogs are loaded: %w", err))
	}
	defer release()
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading the artifact of source %s: %w", source.Name, err))
	}
	return read()
}
