// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/tree"
)

// FuzzRead reads hostile bytes, as gzip or, since the fuzzer seldom hits a
// checksum, compressed here. Whatever is accepted keeps the limits, and is the
// same when it is written and read again.
func FuzzRead(f *testing.F) {
	for _, plain := range [][]byte{
		nil,
		end(),
		append(raw(entry{name: "a/b", body: "1"}, entry{name: "./c"}), end()...),
		append(raw(entry{name: "a/", kind: tar.TypeDir}, entry{name: "a"}), end()...),
		append(raw(entry{name: "a", kind: tar.TypeSymlink, link: "b"}), end()...),
		append(raw(entry{name: "x", pax: map[string]string{"path": strings.Repeat("p", 120)}}), end()...),
		append(raw(entry{name: "x", pax: map[string]string{"GNU.sparse.map": "", "GNU.sparse.numblocks": "0", "GNU.sparse.size": "9"}}), end()...),
		append(raw(entry{name: "g", kind: tar.TypeXGlobalHeader, body: record("comment", "x")}, entry{name: "@", kind: tar.TypeGNULongName, body: "long\x00"}, entry{name: "y"}), end()...),
	} {
		f.Add(plain, false)
		f.Add(compress(f, plain), true)
		f.Add(append(compress(f, nil), compress(f, plain)...), true)
	}
	limits := Limits{Compressed: 1 << 16, Total: 1 << 16, File: 1 << 12, Files: 16, PathLength: 64, Depth: 4}
	f.Fuzz(func(t *testing.T, data []byte, compressed bool) {
		if !compressed {
			data = compress(t, data)
		}
		got, err := Read(context.Background(), bytes.NewReader(data), limits)
		if err != nil {
			var own *Error
			if got != nil || !errors.As(err, &own) {
				t.Fatalf("bytes in memory are to blame for %v", err)
			}
			return
		}
		checkWithin(t, got, limits, int64(len(data)))
		again, err := Read(context.Background(), bytes.NewReader(write(t, got)), Limits{})
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if again.Digest() != got.Digest() || !slices.Equal(contents(again), contents(got)) {
			t.Errorf("read %q, wrote and read %q", contents(got), contents(again))
		}
	})
}

func checkWithin(t *testing.T, got *tree.Tree, limits Limits, compressed int64) {
	t.Helper()
	if compressed > limits.Compressed || got.Size() > limits.Total || got.Len() > limits.Files {
		t.Errorf("%d compressed bytes, %d bytes, %d files", compressed, got.Size(), got.Len())
	}
	for _, path := range got.Paths() {
		content, _ := got.Content(path)
		if int64(len(content)) > limits.File || len(path) > limits.PathLength || strings.Count(path, "/") >= limits.Depth {
			t.Errorf("%q has %d bytes", path, len(content))
		}
		if err := tree.CheckPath(path); err != nil {
			t.Error(err)
		}
	}
}
