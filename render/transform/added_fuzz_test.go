// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/transform"
)

// FuzzMerge: of two definitions that load, the merged one loads too, with the versions of both, or is refused.
func FuzzMerge(f *testing.F) {
	for _, specs := range [][2]string{
		{"  versions:\n  - version: '2' # two\n\n  # end\n", "  versions:\n    # one\n    - version: '1'\n      values: |+\n        a\n\n"},
		{"  versions: [{version: '2'}]\n", "  versions:\n  - &a {version: '1'}\n  - {<<: *a, version: '0'}\n"},
		{"  versions:\n  - version: '2'", "  versions:\r\n  -\r\n    version: '1'\r\n    a: \"b\r\n  c\"\r\n"},
		{"  method: helm\n", "  versions:\n  - version: '1'\n    x: >-\n      a\n\n      b\n"},
		{"  a: &x 1\n  versions:\n  - version: '2'\n    b: *x\n", "  versions:\n  - {version: '1'}\n  # c\n"},
	} {
		f.Add([]byte(head+specs[0]), []byte(head+specs[1]))
	}
	pipeline, err := transform.New(transform.Config{OmitFields: []string{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, later []byte) {
		a, err := tryLoad(first)
		if err != nil {
			t.Skip()
		}
		b, err := tryLoad(later)
		if err != nil || a.Group != b.Group {
			t.Skip()
		}
		lacks := slices.DeleteFunc(slices.Clone(b.Versions), func(v string) bool { return slices.Contains(a.Versions, v) })
		if len(lacks) == 0 {
			t.Skip()
		}
		merged := a.With(catalog.Merged{Source: "old", From: b, Versions: lacks})
		out, err := pipeline.Apply(context.Background(), transform.Input{Application: merged, Versions: merged.Versions})
		if err != nil {
			return
		}
		loaded, err := tryLoad(out.Document)
		if err != nil {
			t.Fatalf("%v in:\n%s\nof:\n%s\nand:\n%s", err, out.Document, first, later)
		}
		if !slices.Equal(loaded.Versions, merged.Versions) || loaded.Name != a.Name {
			t.Fatalf("versions %q, want %q in:\n%s\nof:\n%s\nand:\n%s", loaded.Versions, merged.Versions, out.Document, first, later)
		}
	})
}
