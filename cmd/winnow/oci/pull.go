// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/tree"
)

// Pulled is a catalog in a registry.
type Pulled struct {
	// Digest of the manifest.
	Digest string
	// Layer is a tar+gzip with the files: the layer of an artifact, or what the layers of an image have together.
	Layer []byte
	// Format that the manifest names, or that was asked for.
	Format string
	// Note is a sentence about what is left out; empty for nothing.
	Note string
}

// Pull fetches a catalog of the format, one of spec.sources[].format. It verifies the digests of
// manifest and layers. It returns a *render.Error for an invalid artifact.
func (r *Repository) Pull(ctx context.Context, format string) (Pulled, error) {
	manifest, raw, err := r.fetchManifest(ctx)
	if err != nil {
		return Pulled{}, asInvalid(err)
	}
	chosen := format != "" && format != v1alpha1.FormatAuto
	if (!chosen || format == v1alpha1.FormatFileBased) && registry.MayBeImage(manifest.MediaType, raw) {
		return r.pullImage(ctx, manifest, raw)
	}
	catalog, err := contract.Read(manifest.MediaType, raw)
	if documents := contract.FunctionDocuments(manifest.MediaType, raw); err != nil && format == v1alpha1.FormatKRMFunctions && len(documents) > 0 {
		return r.pullDocuments(ctx, manifest, documents)
	}
	found := catalog.Layer
	if err != nil && chosen {
		found, err = contract.FirstArchive(manifest.MediaType, raw) // Flux extracts this layer, and its content decides the format
	}
	if err != nil {
		return Pulled{}, notCatalog(err)
	}
	layer, err := registry.FetchLayer(ctx, r.remote, found, archive.DefaultLimits().Compressed)
	if err != nil {
		return Pulled{}, asInvalid(fmt.Errorf("fetching the layer: %w", r.advise(err)))
	}
	if !chosen {
		format = catalog.Format
	}
	pulled := Pulled{Digest: manifest.Digest.String(), Layer: layer, Format: format}
	if catalog.ListsLayer() {
		pulled.Note = contract.IgnoredLists
	}
	return pulled, nil
}

// maxDocuments bounds the layers that are documents of functions.
const maxDocuments = 100

// pullDocuments fetches layers that are a document of functions each, as files of a catalog.
func (r *Repository) pullDocuments(ctx context.Context, manifest v1.Descriptor, documents []v1.Descriptor) (Pulled, error) {
	if len(documents) > maxDocuments {
		return Pulled{}, notCatalog(fmt.Errorf("it has %d layers with documents of functions, more than %d", len(documents), maxDocuments))
	}
	files := tree.New()
	for i, document := range documents {
		content, err := registry.FetchLayer(ctx, r.remote, document, krmfunctions.MaxFile)
		if err != nil {
			return Pulled{}, asInvalid(fmt.Errorf("fetching the layer: %w", r.advise(err)))
		}
		if err := files.Add(fmt.Sprintf("layer-%03d.yaml", i+1), content); err != nil {
			return Pulled{}, err
		}
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, files); err != nil {
		return Pulled{}, err
	}
	return Pulled{Digest: manifest.Digest.String(), Layer: packed.Bytes(), Format: v1alpha1.FormatKRMFunctions}, nil
}

// pullImage fetches the catalog of an image. It returns the digest of the manifest that the reference names, which may be
// an index.
func (r *Repository) pullImage(ctx context.Context, manifest v1.Descriptor, raw []byte) (Pulled, error) {
	image, err := registry.FetchImage(ctx, r.remote, manifest, raw)
	if err != nil {
		return Pulled{}, asInvalid(r.advise(err))
	}
	directory, err := contract.CatalogDirectory(image.Labels)
	if err != nil {
		return Pulled{}, notCatalog(err)
	}
	var files bytes.Buffer
	if err := image.Unpack(ctx, r.remote, directory, &files, registry.UnpackLimits{}); err != nil {
		return Pulled{}, asInvalid(fmt.Errorf("fetching the layers: %w", r.advise(err)))
	}
	return Pulled{Digest: manifest.Digest.String(), Layer: files.Bytes(), Format: v1alpha1.FormatFileBased}, nil
}

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

// Digest returns the digest of the manifest, or of the index, that the reference names. The registry's content has it.
func (r *Repository) Digest(ctx context.Context) (string, error) {
	manifest, _, err := r.fetchManifest(ctx)
	return manifest.Digest.String(), err
}

// asInvalid converts an error about the content of the registry to the error of an invalid artifact.
func asInvalid(err error) error {
	if isContent(err) {
		return notCatalog(err)
	}
	return err
}

// isContent reports whether an error is about what a registry has, and not about reaching it.
func isContent(err error) bool {
	_, isLarge := errors.AsType[*registry.TooLargeError](err)
	_, isRefused := errors.AsType[*registry.ImageError](err)
	return isLarge || isRefused
}

// notCatalog returns the error for an artifact that is readable and not a catalog.
func notCatalog(err error) error {
	return &render.Error{Code: v1alpha1.ContractViolatedReason, Err: fmt.Errorf("the artifact is not a catalog: %w", err)}
}

// fetchManifest fetches the manifest that the reference names.
func (r *Repository) fetchManifest(ctx context.Context) (v1.Descriptor, []byte, error) {
	manifest, raw, err := registry.FetchManifest(ctx, r.remote, r.remote.Reference.Reference)
	if errors.Is(err, errdef.ErrNotFound) {
		what := "tag"
		if r.remote.Reference.ValidateReferenceAsDigest() == nil {
			what = "digest"
		}
		return manifest, nil, fmt.Errorf("%w; no such repository or %s, or this account must not see it", err, what)
	}
	return manifest, raw, r.advise(err)
}

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
