// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	fluxtar "github.com/fluxcd/pkg/tar"

	"github.com/winnow-dev/winnow/render/tree"
)

func writeWithDirectories(t *testing.T, files *tree.Tree) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteWithDirectories(&out, files); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Each directory comes once, before its content, and all else is as without directories.
func TestWriteWithDirectories(t *testing.T) {
	packed := writeWithDirectories(t, newTree(t, file{"a-b/x", "1"}, file{"a/b/c/x", "2"}, file{"a/b/y", "3"}, file{"a/z", "4"}, file{"top", "5"}))
	var names []string
	stream := tar.NewReader(bytes.NewReader(decompress(t, packed)))
	for {
		header, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if want := map[byte]int64{tar.TypeDir: 0o755, tar.TypeReg: 0o644}[header.Typeflag]; header.Mode != want || header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("header is %+v", header)
		}
	}
	if want := []string{"a-b/", "a-b/x", "a/", "a/b/", "a/b/c/", "a/b/c/x", "a/b/y", "a/z", "top"}; !slices.Equal(names, want) {
		t.Errorf("entries are %q, want %q", names, want)
	}
}

func TestDirectoriesChangeNoContent(t *testing.T) {
	want := newTree(t, sample()...)
	packed := writeWithDirectories(t, want)
	got, err := Read(context.Background(), bytes.NewReader(packed), Limits{})
	if err != nil || got.Digest() != want.Digest() {
		t.Errorf("read %v, want %v: %v", got, want, err)
	}
	dir := t.TempDir()
	if err := fluxtar.Untar(bytes.NewReader(packed), dir); err != nil {
		t.Fatal(err)
	}
	checkDir(t, dir, want)
}
