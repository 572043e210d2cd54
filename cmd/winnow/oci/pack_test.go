// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/tree"
)

// Winnow and Flux would refuse to read a larger layer.
func TestPackRefusesWhatNobodyReads(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	files := tree.New()
	for _, name := range []string{"a", "b"} {
		content := make([]byte, 33<<20)
		if _, err := random.Read(content); err != nil {
			t.Fatal(err)
		}
		if err := files.Add("applications/"+name, content); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := oci.Pack("catalog", catalog.Applications{}, files, nil); err == nil || !strings.HasPrefix(err.Error(), "source catalog: its layer has 69") {
		t.Errorf("error is %v", err)
	}
}

// The digest does not depend on the order of files in the file system, nor on their owners.
func TestPackIsReproducible(t *testing.T) {
	names := []string{"applications/b/application.yaml", "applications/a/application.yaml", "catalogs/all/metadata.yaml", "applications/a/metadata.yaml"}
	want := ""
	for range len(names) {
		names = append(names[1:], names[0])
		dir := t.TempDir()
		for i, name := range names {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, 0o600+os.FileMode(i)); err != nil {
				t.Fatal(err)
			}
		}
		files, err := archive.ReadFS(t.Context(), os.DirFS(dir), archive.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		packed, err := oci.Pack(dir, catalog.Applications{}, files, map[string]string{"a": "1", "b": "2"})
		if err != nil {
			t.Fatal(err)
		}
		got := packed.Manifest.Descriptor.Digest.String()
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("digest is %s, then %s", want, got)
		}
	}
}

// What an ignore file names is no part of a catalog, and may be secret.
func TestIgnoredFilesArePackedNowhere(t *testing.T) {
	all := tree.New()
	for path, content := range map[string]string{
		".indexignore": ".env\n*.json\n", ".env": "TOKEN=a", "secret.json": "{}", "a/catalog.yaml": "a", "a/notes": "b",
		"a/.indexignore": "notes\n", "b/notes": "c",
	} {
		if err := all.Add(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	for format, want := range map[catalog.FileBased][]string{
		{}:            {".indexignore", "a/.indexignore", "a/catalog.yaml"},
		{Named: true}: {".indexignore", "a/.indexignore", "a/catalog.yaml", "b/notes"},
	} {
		if files, err := oci.CatalogFiles(t.Context(), "dir", format, all); err != nil || !slices.Equal(files.Paths(), want) {
			t.Errorf("%+v: %v, %v, want %v", format, files, err, want)
		}
	}
}
