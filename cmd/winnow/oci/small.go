// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/registry"
)

// Small is an artifact of one small layer.
type Small struct {
	// ArtifactType of the manifest, and LayerType, the media type of the layer.
	ArtifactType, LayerType string
	// Most bounds the layer, in bytes.
	Most int64
}

// OtherError is returned for what a registry has in the place of an artifact.
type OtherError struct{ reason string }

// Error returns what it is.
func (e *OtherError) Error() string { return e.reason }

// At returns the tag latest of a repository below this one. It shares the connections and the credentials.
func (r *Repository) At(name string) (*Repository, error) {
	reference := r.remote.Reference
	reference.Repository, reference.Reference = reference.Repository+"/"+name, Latest
	if err := reference.ValidateRepository(); err != nil {
		return nil, err
	}
	return &Repository{credentials: r.credentials, withoutTLS: r.withoutTLS, remote: &remote.Repository{
		Reference: reference, PlainHTTP: r.remote.PlainHTTP, Client: r.remote.Client,
	}}, nil
}

// PullSmall fetches the layer of an artifact. If there is none, the error is errdef.ErrNotFound, and an *OtherError if there is
// something else.
func (r *Repository) PullSmall(ctx context.Context, want Small) ([]byte, error) {
	manifest, raw, err := r.fetchManifest(ctx)
	switch {
	case isContent(err):
		return nil, &OtherError{err.Error()}
	case err != nil:
		return nil, err
	}
	layer, err := want.layer(manifest, raw)
	if err != nil {
		return nil, err
	}
	fetched, err := registry.FetchLayer(ctx, r.remote, layer, want.Most)
	if errors.Is(err, errdef.ErrNotFound) || errors.Is(err, content.ErrMismatchedDigest) || errors.Is(err, content.ErrTrailingData) {
		return nil, &OtherError{fmt.Sprintf("its layer cannot be fetched: %v", err)}
	}
	return fetched, r.advise(err)
}

// layer returns the layer that a manifest describes.
func (s Small) layer(served v1.Descriptor, raw []byte) (layer v1.Descriptor, err error) {
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return layer, &OtherError{fmt.Sprintf("its manifest cannot be read: %v", err)}
	}
	if served.MediaType != v1.MediaTypeImageManifest || m.ArtifactType != s.ArtifactType || len(m.Layers) != 1 {
		return layer, &OtherError{fmt.Sprintf("it is no artifact of the type %s with one layer", s.ArtifactType)}
	}
	layer = m.Layers[0]
	switch {
	case layer.MediaType != s.LayerType || layer.Digest.Validate() != nil:
		return layer, &OtherError{fmt.Sprintf("its layer is not of the type %s", s.LayerType)}
	case layer.Size < 0 || layer.Size > s.Most:
		return layer, &OtherError{(&registry.TooLargeError{What: "layer", Size: layer.Size, Limit: s.Most}).Error()}
	}
	return layer, nil
}
