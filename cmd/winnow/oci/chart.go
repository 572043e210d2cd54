// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"errors"
	"fmt"

	"github.com/opencontainers/go-digest"

	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
)

// PullChart fetches the archive of a chart of Helm, at most limit bytes. It returns what kept returns for its digest, unless
// that is nil: then the archive is not fetched.
func (r *Repository) PullChart(ctx context.Context, limit int64, kept func(digest.Digest) []byte) ([]byte, error) {
	manifest, raw, err := r.fetchManifest(ctx)
	if err != nil {
		return nil, err
	}
	layer, err := contract.ChartLayer(manifest.MediaType, raw)
	if err != nil {
		return nil, fmt.Errorf("the artifact is no chart: %w", err)
	}
	if content := kept(layer.Digest); content != nil {
		return content, nil
	}
	content, err := registry.FetchLayer(ctx, r.remote, layer, limit)
	if _, large := errors.AsType[*registry.TooLargeError](err); large {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("fetching the layer: %w", r.advise(err))
	}
	return content, nil
}
