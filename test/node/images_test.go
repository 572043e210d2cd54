// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// packProgram writes an archive with the image of a static program.
func packProgram(program, image, archive string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	entrypoint := "/" + path.Base(program)
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	for _, header := range []*tar.Header{
		{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir},
		{Name: entrypoint[1:], Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg},
	} {
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := w.Write(content); err != nil {
				return err
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		return err
	}
	packed, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: runtime.GOOS, Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{Entrypoint: []string{entrypoint}, User: "65534:65534"},
	})
	if err != nil {
		return err
	}
	if packed, err = mutate.AppendLayers(packed, layer); err != nil {
		return err
	}
	tag, err := name.NewTag(image)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(archive, tag, packed); err != nil {
		return fmt.Errorf("packing %s: %w", program, err)
	}
	return nil
}

// packLayout writes an archive of an OCI layout.
func packLayout(dir, archive string) error {
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	w := tar.NewWriter(file)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	return w.Close()
}
