// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"
	"time"
)

func TestPackTarDependsOnContentOnly(t *testing.T) {
	files := func(modified time.Time) fstest.MapFS {
		return fstest.MapFS{
			"b.yaml":   {Data: []byte("b"), ModTime: modified, Mode: 0o600},
			"a/c.yaml": {Data: []byte("c"), ModTime: modified},
		}
	}
	first, err := packTar(files(time.Unix(1, 0)), "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := packTar(files(time.Unix(2, 0)), "")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.gzip, second.gzip) || first.diffID != second.diffID {
		t.Error("the bytes depend on the time")
	}
	want := []string{"a/ 755 ", "a/c.yaml 644 c", "b.yaml 644 b"}
	if got := listTar(t, first.gzip); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func listTar(t *testing.T, compressed []byte) (entries []string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(unzipped)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, header.Name+" "+strconv.FormatInt(header.Mode, 8)+" "+string(content))
	}
}
