// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"bytes"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/tree"
)

// oras pull unpacks a catalog, unless it has named lists: of one with lists, it writes the archive to a file.
func TestORASUnpacksACatalogWithoutLists(t *testing.T) {
	applications := []string{"applications/a-b/application.yaml", "applications/a/application.yaml", "applications/a/docs/logo.svg"}
	for _, test := range []struct {
		name  string
		lists []string
		want  []string // files after the pull
	}{
		{"without lists", nil, applications},
		{"with lists", []string{"catalogs/all/metadata.yaml"}, []string{"applications"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := tree.New()
			for _, path := range append(test.lists, applications...) {
				if err := files.Add(path, []byte(path)); err != nil {
					t.Fatal(err)
				}
			}
			dir := orasPull(t, files)
			var got []string
			for path, content := range readDir(t, dir) {
				got = append(got, path)
				if len(test.want) > 1 && content != path {
					t.Errorf("%s has the content %q", path, content)
				}
			}
			if slices.Sort(got); !slices.Equal(got, test.want) {
				t.Errorf("pulled %v, want %v", got, test.want)
			}
			if len(test.want) == 1 {
				checkArchive(t, filepath.Join(dir, "applications"), files)
			}
		})
	}
}

// A layer that Flux extracts as a whole catalog, with its lists, is not unpacked by oras pull: its title is not the
// directory of all files. So Pack leaves out the annotation for such a catalog.
func TestORASUnpacksNoListsOfTheLayer(t *testing.T) {
	files := tree.New()
	for _, path := range []string{"applications/a/application.yaml", "catalogs/all/metadata.yaml"} {
		if err := files.Add(path, []byte(path)); err != nil {
			t.Fatal(err)
		}
	}
	var content bytes.Buffer
	if err := archive.WriteWithDirectories(&content, files); err != nil {
		t.Fatal(err)
	}
	layer := registry.NewBlob(contract.LayerMediaType, content.Bytes())
	layer.Descriptor.Annotations = map[string]string{v1.AnnotationTitle: contract.LayerTitle, "io.deis.oras.content.unpack": "true"}
	packed, err := registry.Pack(contract.ArtifactType, layer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orasCopy(t, packed); err == nil || !strings.Contains(err.Error(), "is outside of") {
		t.Errorf("oras pull: %v", err)
	}
}

// orasPull pushes a catalog, and pulls it by the library of oras.
func orasPull(t *testing.T, files *tree.Tree) (dir string) {
	t.Helper()
	packed, err := oci.Pack("catalog", catalog.Applications{}, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, err = orasCopy(t, packed)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// orasCopy pushes an artifact, and pulls it by the library of oras.
func orasCopy(t *testing.T, packed registry.Artifact) (dir string, _ error) {
	t.Helper()
	server := httptest.NewServer(&memory{kept: map[string][]byte{}})
	t.Cleanup(server.Close)
	name := strings.TrimPrefix(server.URL, "http://") + "/catalog"
	if _, err := connect(t, oci.Scheme+name).Push(t.Context(), packed, []string{"v1"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	repository, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	dir = t.TempDir()
	store, err := file.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = oras.Copy(t.Context(), repository, "v1", store, "", oras.DefaultCopyOptions)
	return dir, err
}

// readDir maps the files of a directory to their contents.
func readDir(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, path)
		found[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func checkArchive(t *testing.T, path string, want *tree.Tree) {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	got, err := archive.Read(t.Context(), packed, archive.Limits{})
	if err != nil || got.Digest() != want.Digest() {
		t.Errorf("the archive has %v: %v", got.Paths(), err)
	}
}
