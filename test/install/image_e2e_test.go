// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// The same for all runs here, in place of what git tells of the commit.
var commit = []string{"IMAGE_TAG=v9.8.7", "SOURCE_DATE_EPOCH=1700000000", "IMAGE_PLATFORMS=linux/" + runtime.GOARCH}

// TestTheSameCommitIsTheSameImage builds twice, in directories, time zones and with file modes that differ, and without
// git the second time.
func TestTheSameCommitIsTheSameImage(t *testing.T) {
	first, second, other := t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range files(t) {
		content, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(other, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, path), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	makeIn(t, root(t), []string{"TZ=America/New_York"}, append(commit, "image", "BIN="+first)...)
	makeIn(t, other, []string{"TZ=Asia/Tokyo"}, append(commit, "image", "BIN="+second)...)
	// Once more, over what is there.
	makeIn(t, root(t), nil, append(commit, "image", "BIN="+first)...)
	want, got := layoutIndex(t, first), layoutIndex(t, second)
	if want != got {
		t.Errorf("index.json is\n%s\nand\n%s", want, got)
	}
	path, err := layout.FromPath(filepath.Join(first, "image"))
	if err != nil {
		t.Fatal(err)
	}
	if unused, err := path.GarbageCollect(); err != nil || len(unused) > 0 {
		t.Errorf("of an earlier run: %v, %v", unused, err)
	}
}

func layoutIndex(t *testing.T, bin string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(bin, "image", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func checkConfig(t *testing.T, image v1.Image, created time.Time) {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if file.Config.User != "65532:65532" {
		t.Errorf("the user is %q", file.Config.User)
	}
	if !file.Created.Equal(created) {
		t.Errorf("created at %s", file.Created)
	}
	if got := file.Config.Labels["org.opencontainers.image.version"]; got != releaseVersion {
		t.Errorf("the version is %q", got)
	}
	if len(manifest.Annotations) > 0 {
		t.Errorf("annotations: %v", manifest.Annotations)
	}
}

// unpack writes the files of an image into a directory.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	dir := t.TempDir()
	reader := mutate.Extract(image)
	defer reader.Close()
	for archive := tar.NewReader(reader); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, header.FileInfo().Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

func checkCertificates(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(content) || strings.Count(string(content), "BEGIN CERTIFICATE") < 100 {
		t.Errorf("%d bytes of certificates", len(content))
	}
}
