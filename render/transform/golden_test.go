// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/transform"
)

var update = flag.Bool("update", false, "write the golden files")

// settings is what a config.yaml holds: the part of a CatalogSelection's spec that changes
// documents.
type settings struct {
	Versions     []string              `json:"versions"`
	SourceDigest string                `json:"sourceDigest"`
	OmitFields   []string              `json:"omitFields"`
	Mirrors      []v1alpha1.Mirror     `json:"mirrors"`
	Values       []v1alpha1.ValuesRule `json:"values"`
}

func (s settings) config() transform.Config {
	return transform.Config{Values: s.Values, Mirrors: s.Mirrors, OmitFields: s.OmitFields, AnnotateSource: s.SourceDigest != ""}
}

func (s settings) input(application *catalog.Application) transform.Input {
	in := transform.Input{Application: application, Versions: application.Versions, SourceDigest: s.SourceDigest}
	if s.Versions != nil {
		in.Versions = s.Versions
	}
	return in
}

// load reads a document as the catalog does.
func load(t testing.TB, document []byte) *catalog.Application {
	t.Helper()
	application, err := tryLoad(document)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, document)
	}
	return application
}

func tryLoad(document []byte) (*catalog.Application, error) {
	fsys := fstest.MapFS{"applications/web/application.yaml": {Data: document}}
	loaded, err := catalog.Load(context.Background(), fsys)
	if err != nil {
		return nil, err
	}
	return loaded.Applications[0], nil
}

// transformed is an application with the document that a transformation made of it. A catalog
// could not hold it: it has an annotation that only Winnow sets.
func transformed(t testing.TB, application *catalog.Application, document []byte) *catalog.Application {
	copied := *application
	copied.Document, copied.Versions = document, versionsOf(t, document)
	return &copied
}

func versionsOf(t testing.TB, document []byte) []string {
	t.Helper()
	var object struct {
		Spec struct {
			Versions []struct {
				Version string `json:"version"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		t.Fatalf("%v in:\n%s", err, document)
	}
	var versions []string
	for _, v := range object.Spec.Versions {
		versions = append(versions, v.Version)
	}
	return versions
}

// isSame reports whether both are the same bytes in memory.
func isSame(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }

func apply(t testing.TB, s settings, document []byte) transform.Output {
	t.Helper()
	return applyTo(t, s, load(t, document))
}

func applyTo(t testing.TB, s settings, application *catalog.Application) transform.Output {
	t.Helper()
	pipeline, err := transform.New(s.config())
	if err != nil {
		t.Fatal(err)
	}
	out, err := pipeline.Apply(context.Background(), s.input(application))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestApplyIsAsInTheGoldenFiles(t *testing.T) {
	configs, err := filepath.Glob("testdata/*/config.yaml")
	if err != nil || len(configs) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range configs {
		directory := filepath.Dir(name)
		t.Run(filepath.Base(directory), func(t *testing.T) {
			var s settings
			if err := yaml.UnmarshalStrict(read(t, name), &s); err != nil {
				t.Fatal(err)
			}
			in := read(t, filepath.Join(directory, "in.yaml"))
			got := apply(t, s, in).Document
			if *update {
				if err := os.WriteFile(filepath.Join(directory, "want.yaml"), got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, filepath.Join(directory, "want.yaml")); !bytes.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if versions := versionsOf(t, got); s.Versions != nil && !slices.Equal(versions, s.Versions) {
				t.Errorf("versions = %v, want %v", versions, s.Versions)
			}
			again := applyTo(t, s, transformed(t, load(t, in), got))
			if !isSame(again.Document, got) {
				t.Errorf("applied again:\n%s", again.Document)
			}
			build(t, got)
		})
	}
}

// build proves that kustomize takes the document.
func build(t *testing.T, document []byte) {
	t.Helper()
	fsys := filesys.MakeFsInMemory()
	for name, content := range map[string][]byte{
		"kustomization.yaml": []byte("resources: [application.yaml]\nlabels: [{pairs: {a: b}}]\n"),
		"application.yaml":   document,
	} {
		if err := fsys.WriteFile(name, content); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, ".")
	if err != nil {
		t.Fatalf("building: %v\n%s", err, document)
	}
	var got, want map[string]any
	encoded, err := built.AsYaml()
	if err != nil || yaml.Unmarshal(encoded, &got) != nil || yaml.Unmarshal(document, &want) != nil {
		t.Fatalf("reading what was built: %v", err)
	}
	if a, b := asJSON(t, got["spec"]), asJSON(t, want["spec"]); a != b {
		t.Errorf("kustomize changed the spec:\n%s\nwant:\n%s", a, b)
	}
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
