// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// newBase returns an image with what the static binary needs around it: the CA certificates of public registries, a
// user and a directory for temporary files. Its bytes depend on the pinned modules alone.
func newBase(platforms []v1.Platform) (v1.ImageIndex, error) {
	content, err := baseFiles()
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		image, err = mutate.ConfigFile(image, &v1.ConfigFile{
			OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant,
			RootFS: v1.RootFS{Type: "layers"},
		})
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{
			Layer: layer, History: v1.History{CreatedBy: "winnow make image", Comment: "CA certificates of Mozilla"},
		})
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index, nil
}

// baseFiles returns the files of the base image as a tar archive.
func baseFiles() ([]byte, error) {
	files := []struct {
		name    string
		mode    int64
		content string
	}{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: "root:x:0:\nnonroot:x:65532:\n"},
		{name: "etc/passwd", mode: 0o644, content: "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n"},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		// Where Go looks first.
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: certificates()},
		{name: "tmp/", mode: 0o1777},
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, file := range files {
		header := &tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(file.content)), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if file.content == "" {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("writing %s: %w", file.name, err)
		}
		if _, err := io.WriteString(w, file.content); err != nil {
			return nil, fmt.Errorf("writing %s: %w", file.name, err)
		}
	}
	return archive.Bytes(), w.Close()
}

// certificates returns Mozilla's roots, as Go's project publishes them, in PEM. Roots that Mozilla trusts for a part
// of their certificates only are left out, because a file of certificates cannot express that.
func certificates() string {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			all.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return all.String()
}
