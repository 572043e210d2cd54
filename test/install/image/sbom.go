// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/winnow-dev/winnow/test/install/spdx"
)

// writeSBOM writes the SPDX document of an image, or of the index of several. ko's own would name the digests that its
// images had before forgetBase, and a base image that is gone.
func writeSBOM(built result, o options) error {
	digest, err := built.Digest()
	if err != nil {
		return err
	}
	images, err := imagesOf(built)
	if err != nil {
		return err
	}
	subject := spdx.Subject{Name: o.program, Version: o.tag, SHA256: digest.Hex, Purpose: "CONTAINER"}
	config, err := images[0].ConfigFile()
	if err != nil {
		return err
	}
	for _, image := range images {
		program, err := programOf(image, o.program)
		if err != nil {
			return err
		}
		subject.Programs = append(subject.Programs, program)
	}
	document, err := spdx.Document(subject, config.Created.Time)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.sbom), 0o755); err != nil {
		return err
	}
	return os.WriteFile(o.sbom, document, 0o644)
}

func imagesOf(built result) ([]v1.Image, error) {
	index, ok := built.(v1.ImageIndex)
	if !ok {
		return []v1.Image{built.(v1.Image)}, nil
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var images []v1.Image
	for _, entry := range manifest.Manifests {
		image, err := index.Image(entry.Digest)
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	return images, nil
}

// programOf returns the program in an image.
func programOf(image v1.Image, name string) (spdx.Program, error) {
	binary := "/ko-app/" + name
	config, err := image.ConfigFile()
	if err != nil {
		return spdx.Program{}, err
	}
	reader := mutate.Extract(image)
	defer reader.Close()
	for archive := tar.NewReader(reader); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return spdx.Program{}, fmt.Errorf("the image has no %s", binary)
		}
		if err != nil {
			return spdx.Program{}, err
		}
		if path.Clean("/"+header.Name) != binary {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return spdx.Program{}, err
		}
		build, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil {
			return spdx.Program{}, fmt.Errorf("reading what %s is built of: %w", binary, err)
		}
		return spdx.Program{
			Name: name, Platform: config.Platform().String(),
			SHA256: fmt.Sprintf("%x", sha256.Sum256(content)), Build: build,
		}, nil
	}
}
