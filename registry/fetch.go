// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// MaxManifest bounds a manifest, in bytes; registries allow 4 MiB.
const MaxManifest = 4 << 20

// maxElements bounds the elements of lists and mappings in a manifest, or in the config of an image: an empty layer of three
// bytes takes a hundred times of that in memory. Large indexes have a few thousand.
const maxElements = 100_000

// checkElements returns an *ImageError for a document of JSON that takes too much memory once it is decoded.
func checkElements(what string, raw []byte) error {
	if bytes.Count(raw, []byte(",")) > maxElements {
		return refuse("its %s has more than %d elements", what, maxElements)
	}
	return nil
}

// TooLargeError is returned for a manifest or a layer that is larger than the limit. It is not read.
type TooLargeError struct {
	// What is too large: "manifest" or "layer".
	What string
	// Size and Limit in bytes.
	Size, Limit int64
}

// Error returns what is too large, with its size and the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its %s has %d bytes, more than %d", e.What, e.Size, e.Limit)
}

// FetchManifest returns the manifest with a tag or a digest, and its descriptor, which has the digest and the media
// type that the registry reports. The bytes match the digest. It returns a *TooLargeError or an *ImageError for a manifest
// that must not be decoded.
func FetchManifest(ctx context.Context, from *remote.Repository, reference string) (v1.Descriptor, []byte, error) {
	descriptor, body, err := from.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return v1.Descriptor{}, nil, err
	}
	defer body.Close()
	if descriptor.Size > MaxManifest {
		return v1.Descriptor{}, nil, &TooLargeError{What: "manifest", Size: descriptor.Size, Limit: MaxManifest}
	}
	raw, err := content.ReadAll(body, descriptor)
	if err != nil {
		return descriptor, nil, err
	}
	return descriptor, raw, checkElements("manifest", raw)
}

// FetchLayer returns the bytes of a layer, at most limit. They match its size and its digest.
func FetchLayer(ctx context.Context, from *remote.Repository, layer v1.Descriptor, limit int64) ([]byte, error) {
	if layer.Size > limit {
		return nil, &TooLargeError{What: "layer", Size: layer.Size, Limit: limit}
	}
	return content.FetchAll(ctx, from, layer)
}

// CopyLayer writes the bytes of a layer, at most limit. If it returns no error, they match its size and its digest.
func CopyLayer(ctx context.Context, from *remote.Repository, layer v1.Descriptor, limit int64, to io.Writer) error {
	if layer.Size > limit {
		return &TooLargeError{What: "layer", Size: layer.Size, Limit: limit}
	}
	body, err := from.Fetch(ctx, layer)
	if err != nil {
		return err
	}
	defer body.Close()
	verified := content.NewVerifyReader(body, layer)
	if _, err := io.Copy(to, verified); err != nil {
		return err
	}
	return verified.Verify()
}

// ImageError is returned for an image whose content is wrong, or over a limit. Reading the same image fails again.
type ImageError struct{ reason string }

// Error returns what is wrong.
func (e *ImageError) Error() string { return e.reason }

func refuse(format string, args ...any) error { return &ImageError{fmt.Sprintf(format, args...)} }
