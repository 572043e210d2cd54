// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestErrorsNameTheVariableOfMake(t *testing.T) {
	for args, variable := range map[string]string{
		"-repo winnow-controller":                  "IMAGE_REPO",
		"-repo library/winnow-controller":          "IMAGE_REPO",
		"-repo registry.example.com/winnow:latest": "IMAGE_REPO",
		"-repo https://registry.example.com/x":     "IMAGE_REPO",
		"-tag v1.0.0+build":                        "IMAGE_TAG",
		"-tag v1.0.0,-race":                        "IMAGE_TAG",
		"-program kubectl":                         "IMAGE_PROGRAM",
		"-base registry.example.com/Base":          "IMAGE_BASE",
		"-platforms linux":                         "IMAGE_PLATFORMS",
		"-platforms linux/amd64,":                  "IMAGE_PLATFORMS",
		"-platforms a/b/c/d":                       "IMAGE_PLATFORMS",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s: %v", args, err)
		}
	}
	o, err := parse([]string{"-platforms", "linux/amd64,linux/arm/v7", "-repo", "localhost:5000/winnow", "-tag", "v1.0.0-3-g0123456-dirty"})
	if err != nil || len(o.platforms) != 2 || o.platforms[1].Variant != "v7" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTargetIsThatOfThePlatform(t *testing.T) {
	got := withoutTarget([]string{"GOOS=darwin", "GOPROXY=off", "CGO_ENABLED=1", "GOARCH=", "GOARM64=v9.0", "HOME=/"})
	if want := []string{"GOPROXY=off", "HOME=/"}; !slices.Equal(got, want) {
		t.Errorf("ko gets %v, want %v", got, want)
	}
}

func TestBaseHasCertificatesOfMozilla(t *testing.T) {
	content, err := baseFiles()
	if err != nil {
		t.Fatal(err)
	}
	modes, certificates := map[string]int64{}, []byte{}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.Mode
		if strings.HasSuffix(header.Name, ".crt") {
			if certificates, err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
		}
	}
	if modes["tmp/"] != 0o1777 || modes["etc/passwd"] != 0o644 {
		t.Errorf("the modes are %v", modes)
	}
	subjects := map[string]bool{}
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		subjects[certificate.Subject.CommonName] = certificate.IsCA
	}
	// The root of Let's Encrypt, that of registries at Google, and that of GitHub.
	for _, want := range []string{"ISRG Root X1", "GTS Root R1", "USERTrust ECC Certification Authority"} {
		if !subjects[want] {
			t.Errorf("%s is missing in %d certificates", want, len(subjects))
		}
	}
}

func TestResultsForgetTheirBase(t *testing.T) {
	base := newTestBase(t)
	manifest, err := base.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	amd64, err := base.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	annotations := map[string]string{"org.opencontainers.image.base.name": "127.0.0.1:1234/base"}
	annotated := mutate.Annotations(amd64, annotations).(v1.Image)
	index := mutate.Annotations(mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: annotated, Descriptor: v1.Descriptor{Platform: manifest.Manifests[0].Platform},
	}), annotations).(v1.ImageIndex)

	one, err := forgetBase(annotated)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(one.(v1.Image)); err != nil {
		t.Error(err)
	}
	all, err := forgetBase(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(all.(v1.ImageIndex)); err != nil {
		t.Error(err)
	}
	forgotten, err := all.(v1.ImageIndex).IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(forgotten.Annotations) > 0 || len(forgotten.Manifests) != 1 || forgotten.Manifests[0].Platform.Architecture != "amd64" {
		t.Errorf("the index is %+v", forgotten)
	}
	if digest, err := one.Digest(); err != nil || digest != forgotten.Manifests[0].Digest {
		t.Errorf("alone it is %s, in the index %s: %v", digest, forgotten.Manifests[0].Digest, err)
	}
	if plain, err := one.(v1.Image).Manifest(); err != nil || len(plain.Annotations) > 0 {
		t.Errorf("the annotations are %v: %v", plain.Annotations, err)
	}
}

func TestLayoutIsReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin", "image")
	base := newTestBase(t)
	for _, tag := range []string{"v1.0.0", "v1.1.0"} {
		if err := writeLayout(base, dir, tag); err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.1.0" {
		t.Errorf("the layout has %+v", manifest.Manifests)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the layout are %v, %v", left, err)
	}
}

func TestAnotherDirectoryIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, mine} {
		if err := writeLayout(newTestBase(t), path, "v1.0.0"); err == nil {
			t.Errorf("%s is replaced", path)
		}
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func newTestBase(t *testing.T) v1.ImageIndex {
	t.Helper()
	base, err := newBase([]v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}})
	if err != nil {
		t.Fatal(err)
	}
	return base
}
