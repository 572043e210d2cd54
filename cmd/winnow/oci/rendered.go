// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"fmt"

	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
)

// PullRendered fetches an artifact that Winnow has rendered. It does not fetch the layers of another one.
func (r *Repository) PullRendered(ctx context.Context) (out render.Artifact, err error) {
	manifest, raw, err := r.fetchManifest(ctx)
	if err != nil {
		return out, err
	}
	out.Digest = manifest.Digest.String()
	layer, other, err := contract.RenderedLayer(manifest.MediaType, raw)
	if out.Other = other; err != nil || other != "" {
		return out, err
	}
	out.Origin = contract.OriginOf(manifest.MediaType, raw)
	packed, err := registry.FetchLayer(ctx, r.remote, layer, archive.DefaultLimits().Compressed)
	if err != nil {
		return out, fmt.Errorf("fetching the layer: %w", r.advise(err))
	}
	out.Result, err = render.ReadResult(ctx, bytes.NewReader(packed))
	return out, err
}
