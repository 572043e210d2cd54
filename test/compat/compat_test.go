// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/stack"
)

// dataDir returns the directory with the real definitions, or skips the test.
func dataDir(t *testing.T, root string) string {
	t.Helper()
	dir := os.Getenv("WINNOW_TEST_DATA")
	if dir == "" {
		dir = filepath.Join(root, "../shared/data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("skipped: the real definitions are not here: %v; set WINNOW_TEST_DATA", err)
	}
	return dir
}

func TestRealDefinitionsAcceptWhatIsRendered(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data := dataDir(t, root)
	s, err := stack.Start(t.Context(), stack.Options{
		Progress: t.Output(),
		CRDs:     []string{filepath.Join(data, "kkp/crd"), filepath.Join(data, "cozystack/crd")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("the golden trees in KKP", func(t *testing.T) { acceptsGoldenTrees(t, s, root) })
	kkp, cozystack := filepath.Join(data, "kkp/system-applications"), filepath.Join(data, "cozystack/applicationdefinitions")
	for _, c := range []struct {
		name    string
		catalog fs.FS
		want    int
	}{
		{"the example catalog in KKP", os.DirFS(filepath.Join(root, "examples/catalog")), 10},
		{"the catalog of plain Flux in KKP", os.DirFS(filepath.Join(root, "examples/plain-flux/catalog")), 5},
		{"KKP's system applications", os.DirFS(kkp), 2},
		{"Cozystack's definitions", os.DirFS(cozystack), 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Server-side apply, as Flux does, refuses fields that the schema lacks.
			if err := s.Apply(t.Context(), rendered(t, c.catalog, c.want)); err != nil {
				t.Errorf("the API server refuses what was rendered: %v", err)
			}
		})
	}
}

// KKP's CRD accepts every golden tree of the renderer from the example catalog, with its transformers
// and patches.
func acceptsGoldenTrees(t *testing.T, s *stack.Stack, root string) {
	trees, err := filepath.Glob(filepath.Join(root, "render/testdata/golden/*"))
	if err != nil {
		t.Fatal(err)
	}
	applied := 0
	for _, dir := range trees {
		if _, err := os.Stat(filepath.Join(dir, "catalog")); err == nil {
			continue // its catalog does not use KKP's CRD
		}
		applied++
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if err := s.ApplyKustomization(t.Context(), filepath.Join(dir, "want")); err != nil {
				t.Errorf("the API server refuses what was rendered: %v", err)
			}
		})
	}
	if applied == 0 {
		t.Error("there are no golden trees")
	}
}

// rendered selects all applications of a catalog, checks that the render did not change their
// documents, and builds the artifact as Flux does.
func rendered(t *testing.T, fsys fs.FS, want int) []byte {
	t.Helper()
	loaded, err := render.LoadFS(t.Context(), "real", fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	options := render.Options{Name: "real", Namespace: "compat"}
	for _, app := range loaded.Applications { // system applications are selected by name only
		options.Criteria.Names = append(options.Criteria.Names, app.Name)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: "real", Catalog: loaded}}, options)
	if err != nil {
		t.Fatal(err)
	}
	memory := filesys.MakeFsInMemory()
	for _, path := range result.Tree.Paths() {
		content, _ := result.Tree.Content(path)
		if err := memory.WriteFile(path, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, app := range loaded.Applications {
		original, err := fs.ReadFile(fsys, app.Path)
		if err != nil {
			t.Fatal(err)
		}
		content, _ := result.Tree.Content(render.ApplicationsDir + "/" + app.Name + ".yaml")
		if !bytes.Equal(content, original) {
			t.Errorf("%s is not byte-identical to its file in the catalog", app.Name)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(built.Resources()) != want {
		t.Errorf("%d objects, want %d", len(built.Resources()), want)
	}
	stream, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return stream
}
