// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoadReadsTheSample(t *testing.T) {
	loaded, err := Load(t.Context(), os.DirFS("testdata/orchard"))
	if err != nil {
		t.Fatal(err)
	}
	want := `lemon stable
candidate: lemon.v1.2.0|| lemon.v2.0.0|lemon.v1.2.0| lemon.v2.1.0|lemon.v2.0.0|>=1.2.0 <2.1.0
stable: lemon.v1.0.0|lemon.v0.9.0| lemon.v1.1.0|lemon.v1.0.0| lemon.v1.1.1|lemon.v1.0.0|>=1.0.0 <1.1.1|lemon.v1.1.0 lemon.v1.2.0|lemon.v1.1.1| lemon.v2.0.0|lemon.v1.2.0||lemon.v1.9.9
lemon.v2.1.0 2.1.0 ` + `
lemon.v2.0.0 2.0.0-rc.1 lemon
lemon.v1.2.0 1.2.0+build.7 registry.example.com/orchard/lemon:1.2.0
lemon.v1.1.1 1.1.1 registry.example.com/orchard/lemon:1.1.1
lemon.v1.1.0 1.1.0 registry.example.com/orchard/lemon:1.1.0
lemon.v1.0.0 1.0.0 registry.example.com/orchard/lemon@sha256:1111111111111111111111111111111111111111111111111111111111111111
deprecated: Use plum.
candidate deprecated: Use stable.
lemon.v2.0.0 supports: [AllNamespaces]
lemon.v1.2.0 requires: [the API example.com/v1, Kind=Plum]
lemon.v1.1.1 requires: [the package plum >=1.0.0]
lemon.v1.0.0 deprecated: lemon 1.0.0 is sour.

lemon.v1.0.0 provides: [example.com/v1, Kind=Lemon]
plum v1
old: plum-v1.0.0-1||
v1: plum-v1.0.0-1|| plum-v1.0.0-2|plum-v1.0.0-1| plum.v1.1.0|plum-v1.0.0-2||plum.v1.0.9
plum.v1.1.0 1.1.0 registry.example.com/plum:3
plum-v1.0.0-2 1.0.0-2 registry.example.com/plum:2
plum-v1.0.0-1 1.0.0-1 registry.example.com/plum:1
plum-v1.0.0-1 deprecated: Rotten.
`
	if got := describe(loaded); got != want {
		t.Errorf("got:\n%s", got)
	}
	site, note := loaded.Others[0], named(t, loaded, "lemon").Blobs[9]
	if len(loaded.Others) != 1 || string(site.Data) != "# Of no package.\nschema: example.com.site\nname: orchard\ntext: kept as it is\n" {
		t.Errorf("got %q", site.Data)
	}
	if note.Line != 121 || note.Document != 10 || !strings.HasSuffix(string(note.Data), "text: \"kept as it is\" # with this comment\n") {
		t.Errorf("line %d, document %d: %q", note.Line, note.Document, note.Data)
	}
	rewritten(t, loaded)
}

func TestLoadRefusesFiles(t *testing.T) {
	many, ignored := fstest.MapFS{}, fstest.MapFS{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf("%d.yaml", i)] = &fstest.MapFile{}
	}
	for i := range 2 {
		ignored[fmt.Sprintf("%d/.indexignore", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("a\n", maxPatterns*2/3))}
	}
	linked := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(linked, "a"), 0o700), os.Symlink("a", filepath.Join(linked, "b"))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		fsys fs.FS
		want string
	}{
		{"too many", many, "invalid catalog: .: has more than 20000 files"},
		{"too many patterns", ignored, "invalid catalog: 1/.indexignore: takes the patterns of all files .indexignore over 5000"},
		{
			"patterns that take too much", fstest.MapFS{".indexignore": {Data: make([]byte, maxIgnoreFile+1)}},
			"invalid catalog: .indexignore: is larger than 65536 bytes",
		},
		{"a link to a directory", os.DirFS(linked), "invalid catalog: b: must be a regular file, or match a pattern in .indexignore"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(t.Context(), test.fsys)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLoadReturnsTheErrorsOfOthers(t *testing.T) {
	if _, err := Load(t.Context(), os.DirFS(filepath.Join(t.TempDir(), "absent"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, os.DirFS("testdata/orchard")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestViolationsAreBounded(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 20 {
		files[fmt.Sprintf("%02d.yaml", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("schema: 1\n---\n", 300))}
	}
	_, err := Load(t.Context(), files)
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Violations) != maxViolations || invalid.Omitted != 20*300-maxViolations || len(err.Error()) > 2000 {
		t.Errorf("got %v", err)
	}
	if last := invalid.Violations[maxViolations-1]; last.String() != "09.yaml:199: document 100: schema: must be a string" {
		t.Errorf("got %s", last)
	}
}
