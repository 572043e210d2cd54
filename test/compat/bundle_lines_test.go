// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/blobs"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/test/olmtest"
)

// Bundles without one of their lines: what opm refuses is refused, and what is accepted has the document of opm. With
// WINNOW_SWEEP each line is tried, without it some.
func TestOpmAndBundlesWithoutALine(t *testing.T) {
	opm := newOpm(t)
	step := 9
	if isSweep() {
		step = 1
	}
	tried, accepted := 0, 0
	for _, dir := range []string{"../../examples/operators/bundles/heron-0.2.0", "testdata/bundle"} {
		files := inMemory(t, dir)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			file := files[name]
			lines := bytes.SplitAfter(file.Data, []byte("\n"))
			for i := 0; i < len(lines); i += step {
				file.Data = bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)
				for _, image := range []string{"", "registry.example.com/bundle:v1"} {
					tried++
					if opm.compareBundle(t, fmt.Sprintf("%s without line %d of %s, image %q", filepath.Base(dir), i+1, name, image), files, image) {
						accepted++
					}
				}
			}
			file.Data = bytes.Join(lines, nil)
		}
	}
	t.Logf("%d of %d bundles are accepted", accepted, tried)
}

// compareBundle reports whether a bundle is accepted, and fails the test unless opm accepts it, too, with the same document.
// With the address of an image, that document has the metadata of the operator.
func (o opm) compareBundle(t *testing.T, name string, files fs.FS, image string) bool {
	t.Helper()
	read, err := bundle.Read(files)
	var invalid *violation.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatalf("%s: %v", name, err)
	}
	if err != nil {
		return false // opm accepts more: it leaves out what it cannot read
	}
	if err := errors.Join(os.RemoveAll(o.dir), os.CopyFS(o.dir, files)); err != nil {
		t.Fatal(err)
	}
	args := []string{"render", o.dir}
	if image != "" {
		args = append(args, "--migrate-level", "bundle-object-to-csv-metadata", "--alpha-image-ref-template", image)
	}
	want, err := exec.CommandContext(t.Context(), o.path, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: accepted, but opm says %s", name, want)
		return true
	}
	got, err := json.Marshal(blobs.Of(read, image))
	if err != nil {
		t.Fatal(err)
	}
	if x, y := olmtest.Blobs(t, got), olmtest.Blobs(t, want); !slices.Equal(x, y) {
		t.Errorf("%s: the document is\n%s\nopm renders\n%s", name, x, y)
	}
	return true
}
