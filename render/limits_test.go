package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
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
				place := render.Place{Format: format}
				_, fromArchive := render.LoadArchive(t.Context(), "catalog", bytes.NewReader(packed), place)
				_, fromFS := render.LoadFS(t.Context(), "catalog", fsys, place)
				for _, err := range []error{fromArchive, fromFS} {
					if reasonOf(err) != v1alpha1.InvalidArchiveReason || !strings.Contains(err.Error(), fmt.Sprintf("%q: bytes of the file over the limit of 8388608", test.path)) {
						t.Errorf("the error is %v", err)
					}
				}
			})
		}
	}
}
