// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is wanted of the cases")

// The cases are catalogs with one thing that may be wrong, and the violations. test/compat compares them with opm.
func TestCases(t *testing.T) {
	cases, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, want := fstest.MapFS{}, ""
			for _, file := range archive.Files {
				if in, found := strings.CutPrefix(file.Name, "catalog/"); found {
					files[in] = &fstest.MapFile{Data: file.Data}
				} else {
					want = string(file.Data)
				}
			}
			got := violations(t, files)
			if *update && got != want {
				rewrite(t, name, archive, got)
			} else if got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

// violations loads a catalog and returns what is wrong with it, a line each.
func violations(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	loaded, err := Load(t.Context(), files)
	var invalid *InvalidError
	if (err == nil) != (loaded != nil) || err != nil && !errors.As(err, &invalid) {
		t.Fatalf("Load() = %v, %v", loaded, err)
	}
	if err == nil {
		return ""
	}
	var text strings.Builder
	for _, violation := range invalid.Violations {
		text.WriteString(violation.String() + "\n")
	}
	return text.String()
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, want string) {
	t.Helper()
	var files []txtar.File
	for _, file := range archive.Files {
		if strings.HasPrefix(file.Name, "catalog/") {
			files = append(files, file)
		}
	}
	if want != "" {
		files = append(files, txtar.File{Name: "want", Data: []byte(want)})
	}
	archive.Files = files
	if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}
