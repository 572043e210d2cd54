// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// PullBundle fetches the manifests and the metadata of the image of an operator's bundle, and its digest. The image must have
// the label of a bundle. Errors are as of Pull.
func (r *Repository) PullBundle(ctx context.Context, label string, directories ...string) (files *tree.Tree, digest string, err error) {
	manifest, raw, err := r.fetchManifest(ctx)
	if err != nil {
		return nil, "", asInvalid(err)
	}
	image, err := registry.FetchImage(ctx, r.remote, manifest, raw)
	if err != nil {
		return nil, "", asInvalid(r.advise(err))
	}
	if _, ok := image.Labels[label]; !ok {
		return nil, "", notBundle(fmt.Errorf("the config has no label %s", label))
	}
	files = tree.New()
	for _, directory := range directories {
		var packed bytes.Buffer
		if err := image.Unpack(ctx, r.remote, directory, &packed, registry.UnpackLimits{Compressed: maxBundle, Uncompressed: maxBundle, Files: maxBundle}); err != nil {
			return nil, "", asInvalid(fmt.Errorf("fetching the layers: %w", r.advise(err)))
		}
		unpacked, err := archive.Read(ctx, &packed, archive.DefaultLimits())
		if err != nil {
			return nil, "", notBundle(err)
		}
		for _, name := range unpacked.Paths() {
			content, _ := unpacked.Content(name)
			if err := files.Add(path.Join(directory, name), content); err != nil {
				return nil, "", notBundle(err)
			}
		}
	}
	return files, manifest.Digest.String(), nil
}

// maxBundle bounds the bytes of an image of a bundle, which has a few manifests.
const maxBundle = 64 << 20

func notBundle(err error) error {
	return &render.Error{Code: v1alpha1.ContractViolatedReason, Err: fmt.Errorf("the image is no bundle of an operator: %w", err)}
}
