// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	godigest "github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/content"

	"github.com/winnow-dev/winnow/test/stack"
)

// copySignature copies the signatures of the manifest of a tag to another manifest.
func (s *scenario) copySignature(tag, to string) {
	s.t.Helper()
	ctx, registry := s.t.Context(), s.registry()
	signatures, err := registry.Resolve(ctx, signatureTag(s.digestOf(tag)))
	if err == nil {
		err = registry.Tag(ctx, signatures, signatureTag(to))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// signatureTag returns the tag of the referrers of a manifest in a registry without the referrers API.
func signatureTag(digest string) string { return strings.Replace(digest, ":", "-", 1) }

// alterLayer changes a byte of the layer in the files of the registry.
func (s *scenario) alterLayer(tag string) {
	s.t.Helper()
	s.replaceLayer(tag, func(blob []byte) []byte {
		blob[len(blob)/2] ^= 1
		return blob
	})
}

// swapLayer replaces the layer by another catalog with the same number of bytes.
func (s *scenario) swapLayer(tag string, with []byte) {
	s.t.Helper()
	s.replaceLayer(tag, func(blob []byte) []byte {
		reader, err := gzip.NewReader(bytes.NewReader(with))
		if err != nil {
			s.t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			s.t.Fatal(err)
		}
		pack := func(padding int) []byte {
			var packed bytes.Buffer
			compressor, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
			compressor.Extra = make([]byte, padding)
			_, err := compressor.Write(content)
			if err = errors.Join(err, compressor.Close()); err != nil {
				s.t.Fatal(err)
			}
			return packed.Bytes()
		}
		swapped := pack(len(blob) - len(pack(1)) + 1)
		if len(swapped) != len(blob) {
			s.t.Fatalf("%d bytes, want %d", len(swapped), len(blob))
		}
		return swapped
	})
}

func (s *scenario) replaceLayer(tag string, by func([]byte) []byte) {
	s.t.Helper()
	ctx, registry := s.t.Context(), s.registry()
	manifest, err := registry.Resolve(ctx, tag)
	if err != nil {
		s.t.Fatal(err)
	}
	children, err := content.Successors(ctx, registry, manifest)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, child := range children {
		if child.MediaType == stack.CatalogLayerMediaType {
			s.replaceBlob(child.Digest, by)
			return
		}
	}
	s.t.Fatalf("%s has no layer", tag)
}

func (s *scenario) replaceBlob(digest godigest.Digest, by func([]byte) []byte) {
	s.t.Helper()
	hex := digest.Encoded()
	file := filepath.Join(system.Dir(), stack.Registry, "data/docker/registry/v2/blobs/sha256", hex[:2], hex, "data")
	blob, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, by(blob), 0o600); err != nil {
		s.t.Fatal(err)
	}
}
