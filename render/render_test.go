// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

var update = flag.Bool("update", false, "write the golden files anew")

// files returns the content of a tree by path.
func files(t *tree.Tree) map[string]string {
	all := map[string]string{}
	for _, path := range t.Paths() {
		content, _ := t.Content(path)
		all[path] = string(content)
	}
	return all
}

// directory reads a directory into a tree.
func directory(t *testing.T, path string) *tree.Tree {
	t.Helper()
	return directoryOf(t, os.DirFS(path))
}

func directoryOf(t *testing.T, fsys fs.FS) *tree.Tree {
	t.Helper()
	read, err := archive.ReadFS(t.Context(), fsys, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func readSelection(t *testing.T, path string) *v1alpha1.CatalogSelection {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	if err := yaml.UnmarshalStrict(content, cs); err != nil {
		t.Fatal(err)
	}
	return cs
}

// renderFS renders a single source.
func renderFS(ctx context.Context, fsys fs.FS, cs *v1alpha1.CatalogSelection) (*render.Result, error) {
	return renderWith(ctx, fsys, cs, false)
}

// renderWith is renderFS, for a selection that may be empty.
func renderWith(ctx context.Context, fsys fs.FS, cs *v1alpha1.CatalogSelection, allowEmpty bool) (*render.Result, error) {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	opts.AllowEmpty = allowEmpty
	source := cs.Spec.Sources[0]
	loaded, err := render.LoadFS(ctx, source.Name, fsys, render.LocationOf(source))
	if err != nil {
		return nil, err
	}
	return render.Render(ctx, []selection.Source{{Name: source.Name, Digest: "sha256:0123", Catalog: loaded}}, opts)
}

func goldenCases(t *testing.T) []string {
	t.Helper()
	cases, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return cases
}

// goldenCatalog is the case's own catalog, or the example catalog.
func goldenCatalog(dir string) fs.FS {
	own := filepath.Join(dir, "catalog")
	if _, err := os.Stat(own); err != nil {
		return os.DirFS("../examples/catalog")
	}
	return os.DirFS(own)
}

func TestTheTreeIsTheGoldenOne(t *testing.T) {
	for _, dir := range goldenCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			result, err := renderFS(t.Context(), goldenCatalog(dir), readSelection(t, dir+"/selection.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(dir, "want")
			if *update {
				replace(t, want, result.Tree)
			}
			golden := directory(t, want)
			if !slices.Equal(result.Tree.Paths(), golden.Paths()) {
				t.Fatalf("the files are %v, want %v", result.Tree.Paths(), golden.Paths())
			}
			for path, content := range files(golden) {
				if got := files(result.Tree)[path]; got != content {
					t.Errorf("%s is\n%s\nwant\n%s", path, got, content)
				}
			}
			if want := "latest@" + golden.Digest(); result.Revision != want {
				t.Errorf("revision is %s, want %s", result.Revision, want)
			}
			if _, err := build(result.Tree); err != nil {
				t.Errorf("kustomize refuses it: %v", err)
			}
		})
	}
}

func replace(t *testing.T, dir string, content *tree.Tree) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for path, text := range files(content) {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDocumentsAreThoseOfTheCatalog(t *testing.T) {
	dir := "testdata/golden/tiers"
	result, err := renderFS(t.Context(), os.DirFS(dir+"/catalog"), readSelection(t, dir+"/selection.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{"argocd": "argocd", "ingress-nginx": "nginx"} {
		want, err := os.ReadFile(dir + "/catalog/applications/" + source + "/application.yaml")
		if err != nil {
			t.Fatal(err)
		}
		got, ok := result.Tree.Content("applicationdefinitions/" + name + ".yaml")
		if !ok || !bytes.Equal(got, want) {
			t.Errorf("%s is not the file of the catalog", name)
		}
	}
}

// unordered returns the entries of directories in any order.
type unordered struct{ fs.FS }

func (u unordered) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(u.FS, name)
	rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries, err
}

func TestTheOrderOfTheInputDoesNotMatter(t *testing.T) {
	for _, name := range []string{"tiers", "together"} {
		dir := "testdata/golden/" + name
		cs := readSelection(t, dir+"/selection.yaml")
		var want []byte
		for range 20 {
			slices.Reverse(cs.Spec.Limit.MetadataSelector.TierRefs)
			slices.Reverse(cs.Spec.Limit.CatalogRefs)
			slices.Reverse(cs.Spec.Mirrors)
			slices.Reverse(cs.Spec.OmitFields)
			result, err := renderFS(t.Context(), unordered{goldenCatalog(dir)}, cs)
			if err != nil {
				t.Fatal(err)
			}
			var packed bytes.Buffer
			if err := result.WriteArchive(&packed); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = packed.Bytes()
			}
			if !bytes.Equal(packed.Bytes(), want) {
				t.Fatalf("the bytes of %s differ", name)
			}
		}
	}
}

func TestAnArchiveIsLoadedAsADirectoryIs(t *testing.T) {
	for _, dir := range goldenCases(t) {
		cs := readSelection(t, dir+"/selection.yaml")
		place := render.LocationOf(cs.Spec.Sources[0])
		var packed bytes.Buffer
		if err := archive.Write(&packed, directoryOf(t, goldenCatalog(dir))); err != nil {
			t.Fatal(err)
		}
		fromArchive, err := render.LoadArchive(t.Context(), "catalog", &packed, place)
		if err != nil {
			t.Fatal(err)
		}
		fromFS, err := render.LoadFS(t.Context(), "catalog", goldenCatalog(dir), place)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := toYAML(t, fromArchive), toYAML(t, fromFS); a != b {
			t.Errorf("the archive is\n%s\nthe directory\n%s", a, b)
		}
	}
}

func toYAML(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLoadingRefuses(t *testing.T) {
	linked := t.TempDir()
	if err := os.CopyFS(linked, os.DirFS("testdata/golden/tiers/catalog")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", linked+"/applications/argocd/notes.txt"); err != nil {
		t.Fatal(err)
	}
	small := fstest.MapFS{"a/b": {Data: []byte("x")}}
	for _, test := range []struct {
		name   string
		fsys   fs.FS
		path   string
		reason string
	}{
		{"a symbolic link", os.DirFS(linked), "", v1alpha1.InvalidArchiveReason},
		{"a directory that is not there", small, "b", v1alpha1.InvalidCatalogReason},
		{"a file instead of a directory", small, "a/b", v1alpha1.InvalidCatalogReason},
		{"a climbing path", small, "../a", v1alpha1.InvalidSpecReason},
		{"an absolute path", small, "/a", v1alpha1.InvalidSpecReason},
		{"a directory without applications", small, "a", v1alpha1.InvalidCatalogReason},
		{"nothing at all", fstest.MapFS{}, "", v1alpha1.InvalidCatalogReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			loaded, err := render.LoadFS(t.Context(), "catalog", test.fsys, render.CatalogLocation{Path: test.path})
			var typed *render.Error
			if loaded != nil || !errors.As(err, &typed) || typed.Reason() != test.reason || typed.Source != "catalog" {
				t.Errorf("LoadFS() = %v, %#v", loaded, err)
			}
		})
	}
	if _, err := render.LoadArchive(t.Context(), "catalog", bytes.NewReader([]byte("hello")), render.CatalogLocation{}); reasonOf(err) != v1alpha1.InvalidArchiveReason {
		t.Errorf("LoadArchive() = %v", err)
	}
}

func reasonOf(err error) string {
	var typed *render.Error
	if errors.As(err, &typed) {
		return typed.Reason()
	}
	return ""
}

// A context that ended, or a reader that fails, proves nothing about the content.
func TestTransientFailuresAreNotPermanent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := os.DirFS("testdata/golden/tiers/catalog")
	if _, err := render.LoadFS(ctx, "catalog", dir, render.CatalogLocation{}); !errors.Is(err, context.Canceled) || reasonOf(err) != "" {
		t.Errorf("LoadFS() = %v", err)
	}
	if _, err := render.Render(ctx, nil, render.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Render() = %v", err)
	}
	failing, err := os.Open(t.TempDir()) // reading a directory fails
	if err != nil {
		t.Fatal(err)
	}
	defer failing.Close()
	if _, err := render.LoadArchive(t.Context(), "catalog", failing, render.CatalogLocation{}); err == nil || reasonOf(err) != "" {
		t.Errorf("LoadArchive() = %v", err)
	}
}
