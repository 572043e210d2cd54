// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/test/stack"
)

// ownSample is a catalog of this repository with everything that the format has.
const ownSample = "render/catalog/filebased/testdata/orchard"

// opm validates catalogs with the reference.
type opm struct{ path, dir string }

// newOpm skips the test unless opm is built.
func newOpm(t *testing.T) opm {
	t.Helper()
	path, err := stack.BuiltOpm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if path == "" {
		t.Skip("skipped: opm is not built: go run ./test/stack/cmd/stack -opm")
	}
	return opm{path: path, dir: filepath.Join(t.TempDir(), "catalog")}
}

// validate returns what opm finds wrong with a catalog, and an empty string when it is valid.
func (o opm) validate(t *testing.T, catalog fs.FS) string {
	t.Helper()
	if err := errors.Join(os.RemoveAll(o.dir), os.CopyFS(o.dir, catalog)); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), o.path, "validate", o.dir).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return string(bytes.TrimSpace(output))
}

// compare reports a catalog that one of both accepts, and returns whether both do.
func (o opm) compare(t *testing.T, name string, catalog fs.FS) (valid bool) {
	t.Helper()
	_, err := filebased.Load(t.Context(), catalog)
	var invalid *filebased.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	theirs := o.validate(t, catalog)
	if (theirs == "") != (err == nil) {
		t.Errorf("%s: opm says %q, Load says %v; the catalog:\n%s", name, theirs, err, changed(t, catalog))
	}
	return theirs == ""
}

// isSweep reports whether everything is compared, which takes minutes: see `make sweep`.
func isSweep() bool { return os.Getenv("WINNOW_SWEEP") != "" }

// realSamples returns the directories of real catalogs, and that in which they should be.
func realSamples(t *testing.T, root string) (packages []string, data string) {
	t.Helper()
	if data = os.Getenv("WINNOW_TEST_DATA"); data == "" {
		data = filepath.Join(root, "../shared/data")
	}
	packages, err := filepath.Glob(filepath.Join(data, "olm/fbc*/*"))
	if err != nil {
		t.Fatal(err)
	}
	return packages, data
}

// The other tests compare the catalog of this repository alone without real ones.
func TestOpmHasRealSamples(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if packages, data := realSamples(t, root); len(packages) == 0 {
		t.Skipf("skipped: no real catalogs of operators in %s; set WINNOW_TEST_DATA", data)
	}
}

// samples returns catalogs by name: the repository's own, and the real ones.
func samples(t *testing.T) map[string]fstest.MapFS {
	t.Helper()
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]fstest.MapFS{"orchard": inMemory(t, filepath.Join(root, ownSample))}
	packages, _ := realSamples(t, root)
	for _, dir := range packages {
		found[filepath.Base(dir)] = inMemory(t, dir)
	}
	return found
}

func inMemory(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// changed returns the files of a catalog that a test made, which begin with a mark.
func changed(t *testing.T, catalog fs.FS) string {
	t.Helper()
	var text bytes.Buffer
	files, ok := catalog.(mutated)
	if !ok {
		return "as it is"
	}
	fmt.Fprintf(&text, "%s in %s", files.mutation, files.file)
	const most = 6000
	if data := files.MapFS[files.file].Data; len(data) < most {
		fmt.Fprintf(&text, ":\n%s", data)
	} else {
		failed := filepath.Join(os.TempDir(), "filebased-mutation.yaml")
		if err := os.WriteFile(failed, data, 0o600); err == nil {
			fmt.Fprintf(&text, ", which is in %s", failed)
		}
	}
	return text.String()
}

func TestOpmAndLoadAcceptTheSameSamples(t *testing.T) {
	o := newOpm(t)
	for name, catalog := range samples(t) {
		if !o.compare(t, name, catalog) {
			t.Errorf("%s is not valid", name)
		}
	}
}

// The catalogs of the example are small ones of several packages.
func TestOpmAcceptsTheExampleOfOperators(t *testing.T) {
	o := newOpm(t)
	for _, name := range []string{"catalog", "next"} {
		if !o.compare(t, name, os.DirFS(filepath.Join("../../examples/operators", name))) {
			t.Errorf("%s is not valid", name)
		}
	}
}

// The cases of the reader are catalogs with one thing that may be wrong.
func TestOpmAndLoadAgreeOnCases(t *testing.T) {
	o := newOpm(t)
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob(filepath.Join(root, "render/catalog/filebased/testdata/cases/*.txtar"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, name := range cases {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for _, file := range archive.Files {
			if in, found := strings.CutPrefix(file.Name, "catalog/"); found {
				files[in] = &fstest.MapFile{Data: file.Data}
			}
		}
		o.compare(t, filepath.Base(name), files)
	}
}
