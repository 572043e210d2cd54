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
	"github.com/winnow-dev/winnow/render/selection"
)

// The catalog in an artifact names the image that is pushed of the same artifact, whatever the sources of the push are.
func TestTheServedImageIsThePushedOne(t *testing.T) {
	for _, name := range []string{"served-cluster-catalog", "served-catalog-source"} {
		t.Run(name, func(t *testing.T) {
			cs, result := renderGolden(t, name)
			var packed bytes.Buffer
			if err := result.WriteArchive(&packed); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "archive.tar.gz")
			if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			job := pushJob{
				file: file, digest: digest.FromBytes(packed.Bytes()).String(), revision: result.Revision, sources: "catalog@sha256:1",
				selection: cs.Namespace + "/" + cs.Name, image: true, served: true,
			}
			p := New(Options{})
			artifact, err := p.pack(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimPrefix(cs.Spec.Push.URL, "oci://") + "@" + artifact.Manifest.Descriptor.Digest.String()
			if !isServed(result, want) {
				t.Errorf("no object of the artifact names %s", want)
			}
			job.served = false
			if artifact, err = p.pack(t.Context(), job); err != nil || strings.HasSuffix(want, artifact.Manifest.Descriptor.Digest.String()) {
				t.Errorf("an image that no catalog names has the same manifest: %v", err)
			}
		})
	}
}

func isServed(result *render.Result, image string) bool {
	for _, path := range result.Tree.Paths() {
		if content, _ := result.Tree.Content(path); strings.HasPrefix(path, render.InstancesDir+"/") && bytes.Contains(content, []byte(": "+image+"\n")) {
			return true
		}
	}
	return false
}

func renderGolden(t *testing.T, name string) (*v1alpha1.CatalogSelection, *render.Result) {
	t.Helper()
	dir := filepath.Join("../../render/testdata/golden", name)
	content, err := os.ReadFile(filepath.Join(dir, "selection.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	if err := yaml.UnmarshalStrict(content, cs); err != nil {
		t.Fatal(err)
	}
	loaded, err := render.LoadFS(t.Context(), "catalog", os.DirFS(filepath.Join(dir, "catalog")), render.Place{Format: v1alpha1.FormatFileBased})
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
	return cs, result
}
