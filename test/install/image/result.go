// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	specs "github.com/opencontainers/image-spec/specs-go/v1"
)

// result is an image of one platform or the index of several.
type result interface {
	mutate.Appendable
	remote.Taggable
}

// only returns what the index of a layout holds, which ko writes one entry into.
func only(index v1.ImageIndex) (result, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("ko left %d images, expected one", len(manifest.Manifests))
	}
	entry := manifest.Manifests[0]
	if entry.MediaType.IsIndex() {
		return index.ImageIndex(entry.Digest)
	}
	return index.Image(entry.Digest)
}

// forgetBase removes the annotations that name the base image: its registry is gone, and had another port each time.
func forgetBase(built result) (result, error) {
	switch built := built.(type) {
	case v1.Image:
		return unannotated{built}, nil
	case v1.ImageIndex:
		manifest, err := built.IndexManifest()
		if err != nil {
			return nil, err
		}
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, entry := range manifest.Manifests {
			image, err := built.Image(entry.Digest)
			if err != nil {
				return nil, err
			}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: unannotated{image}, Descriptor: v1.Descriptor{Platform: entry.Platform}})
		}
		return index, nil
	}
	return nil, fmt.Errorf("ko built %T", built)
}

// unannotated is an image without the annotations of its manifest.
type unannotated struct{ v1.Image }

func (u unannotated) Manifest() (*v1.Manifest, error) {
	raw, err := u.RawManifest()
	if err != nil {
		return nil, err
	}
	return v1.ParseManifest(bytes.NewReader(raw))
}

func (u unannotated) RawManifest() ([]byte, error) {
	manifest, err := u.Image.Manifest()
	if err != nil {
		return nil, err
	}
	plain := *manifest
	plain.Annotations = nil
	return json.Marshal(plain)
}

func (u unannotated) Digest() (v1.Hash, error) { return partial.Digest(u) }

func (u unannotated) Size() (int64, error) { return partial.Size(u) }

func push(ctx context.Context, image result, o options) error {
	ref, err := o.reference()
	if err != nil {
		return err
	}
	if err := remote.Push(ref, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("pushing %s: %w", ref, err)
	}
	return nil
}

// writeLayout replaces the layout in dir by one that holds the image alone, once that is complete.
func writeLayout(image result, dir, tag string) error {
	if err := replaceable(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	next, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next)
	path, err := layout.Write(next, empty.Index)
	if err != nil {
		return err
	}
	named := layout.WithAnnotations(map[string]string{specs.AnnotationRefName: tag})
	switch image := image.(type) {
	case v1.ImageIndex:
		err = path.AppendIndex(image, named)
	case v1.Image:
		err = path.AppendImage(image, named)
	}
	if err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	return errors.Join(os.Chmod(next, 0o755), os.RemoveAll(dir), os.Rename(next, dir))
}

// replaceable reports an error unless dir is missing or an OCI layout.
func replaceable(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, specs.ImageLayoutFile)); err != nil {
		return fmt.Errorf("%s exists, and is no OCI layout to be replaced: %w", dir, err)
	}
	return nil
}
