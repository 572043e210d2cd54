// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/selection"
)

// The catalog in an artifact names the image that is pushed of the same artifact, whatever the sources of the push are.
func TestTheServedImageIsThePushedOne(t *testing.T) {
	for _, name := range []string{"served-cluster-catalog", "served-catalog-source"} {
		t.Run(name, func(t *testing.T) {
			cs := readGolden(t, name)
			result := renderGolden(t, name, cs)
			served := strings.TrimPrefix(cs.Spec.Push.URL, "oci://") + "@" + pushedOf(t, cs, result)
			if !isServed(result, served) {
				t.Errorf("no object of the artifact names %s", served)
			}
			cs.Spec.Push.Catalog = nil
			cs.Spec.Instances = nil // without a catalog, some need another one
			if pushed := pushedOf(t, cs, renderGolden(t, name, cs)); strings.HasSuffix(served, pushed) {
				t.Error("an image that no catalog names has the same manifest")
			}
		})
	}
}

// pushedOf returns the digest of the image that is pushed of an artifact.
func pushedOf(t *testing.T, cs *v1alpha1.CatalogSelection, result *render.Result) string {
	t.Helper()
	var packed bytes.Buffer
	if err := result.WriteArchive(&packed); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "archive.tar.gz")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	artifact, err := newPushes(Options{}).pack(t.Context(), pushJob{
		file: file, digest: digest.FromBytes(packed.Bytes()).String(), revision: result.Revision, sources: "catalog@sha256:1",
		selection: cs.Namespace + "/" + cs.Name, image: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return artifact.Manifest.Descriptor.Digest.String()
}

func isServed(result *render.Result, image string) bool {
	for _, path := range result.Tree.Paths() {
		if content, _ := result.Tree.Content(path); strings.HasPrefix(path, installation.Dir+"/") && bytes.Contains(content, []byte(": "+image+"\n")) {
			return true
		}
	}
	return false
}

func readGolden(t *testing.T, name string) *v1alpha1.CatalogSelection {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../render/testdata/golden", name, "selection.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	if err := yaml.UnmarshalStrict(content, cs); err != nil {
		t.Fatal(err)
	}
	return cs
}

func renderGolden(t *testing.T, name string, cs *v1alpha1.CatalogSelection) *render.Result {
	t.Helper()
	files := os.DirFS(filepath.Join("../../render/testdata/golden", name, "catalog"))
	loaded, err := render.LoadFS(t.Context(), "catalog", files, render.CatalogLocation{Format: v1alpha1.FormatFileBased})
	if err != nil {
		t.Fatal(err)
	}
	options, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
