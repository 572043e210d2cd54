// SPDX-License-Identifier: Apache-2.0

package loading_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/refusal"
)

// Only a catalog of the format FileBased may have a file of more than 8 MiB, whether or not its format is named.
func TestLargeFilesOfOtherFormats(t *testing.T) {
	large := strings.Repeat("x", 8<<20+1)
	for _, test := range []struct {
		name, path string
		files      map[string]string
	}{
		{"of an application", "applications/a/notes.txt", map[string]string{"applications/a/application.yaml": fmt.Sprintf(definitionText, "a")}},
		{"beside definitions", "a.txt", map[string]string{"b.yaml": fmt.Sprintf(definitionText, "b")}},
		{"of no catalog", "a.txt", nil},
	} {
		files, fsys := map[string]string{test.path: large}, fstest.MapFS{test.path: {Data: []byte(large)}}
		for path, content := range test.files {
			files[path], fsys[path] = content, &fstest.MapFile{Data: []byte(content)}
		}
		packed := pack(t, files)
		for _, format := range []string{"", v1alpha1.FormatAuto, v1alpha1.FormatApplications, v1alpha1.FormatDefinitions} {
			t.Run(test.name+", format "+format, func(t *testing.T) {
				place := loading.CatalogLocation{Format: format}
				_, fromArchive := loading.Archive(t.Context(), "catalog", bytes.NewReader(packed), place)
				_, fromFS := loading.FS(t.Context(), "catalog", fsys, place)
				for _, err := range []error{fromArchive, fromFS} {
					if reasonOf(err) != v1alpha1.InvalidArchiveReason || !strings.Contains(err.Error(), fmt.Sprintf("%q: bytes of the file over the limit of 8388608", test.path)) {
						t.Errorf("the error is %v", err)
					}
				}
			})
		}
	}
}

// A file-based catalog is often one file, whether or not its format is named.
func TestLargeFilesOfFileBasedCatalogs(t *testing.T) {
	text := "schema: olm.package\nname: orchard\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: orchard\nname: stable\nentries: [{name: orchard.v1.0.0}]\n" +
		"---\nschema: olm.bundle\npackage: orchard\nname: orchard.v1.0.0\nimage: quay.io/orchard/bundle:v1\nproperties: [{type: olm.package, value: {packageName: orchard, version: 1.0.0}}]\n"
	for i := range 3 {
		text += fmt.Sprintf("---\nschema: example.com/blob\nname: b%d\ntext: %s\n", i, strings.Repeat("x", 3<<20))
	}
	packed := pack(t, map[string]string{"catalog.yaml": text})
	for _, format := range []string{"", v1alpha1.FormatFileBased} {
		for name, load := range map[string]func(loading.CatalogLocation) (*catalog.Catalog, error){
			"archive": func(p loading.CatalogLocation) (*catalog.Catalog, error) {
				return loading.Archive(t.Context(), "catalog", bytes.NewReader(packed), p)
			},
			"directory": func(p loading.CatalogLocation) (*catalog.Catalog, error) {
				return loading.FS(t.Context(), "catalog", fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}, p)
			},
		} {
			loaded, err := load(loading.CatalogLocation{Format: format})
			if err != nil || len(loaded.Applications) != 1 {
				t.Errorf("%s of format %q: %v", name, format, err)
			}
		}
	}
}

func reasonOf(err error) string {
	if typed, ok := errors.AsType[*refusal.Error](err); ok {
		return typed.Reason()
	}
	return ""
}
