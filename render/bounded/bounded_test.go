// SPDX-License-Identifier: Apache-2.0

package bounded_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/tree"
)

func TestReadFile(t *testing.T) {
	held := tree.New()
	for name, content := range map[string]string{"empty": "", "large": "1234567"} {
		if err := held.Add(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	files := fstest.MapFS{"dir/a": {Data: []byte("12345")}, "empty": {}, "large": {Data: []byte("1234567")}}
	pipes := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(pipes, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		fsys fs.FS
		file string
		want string
		err  error
	}{
		{"a file of the limit is read", files, "dir/a", "12345", nil},
		{"an empty file has content that is not nil", files, "empty", "", nil},
		{"so has one in memory", held.FS(), "empty", "", nil},
		{"of a larger file there is the beginning", files, "large", "123456", bounded.ErrTooLarge},
		{"so there is of one in memory", held.FS(), "large", "123456", bounded.ErrTooLarge},
		{"a directory is refused", files, "dir", "", bounded.ErrNotRegular},
		{"a named pipe is refused and not opened", os.DirFS(pipes), "pipe", "", bounded.ErrNotRegular},
		{"a missing file is one of the file system", files, "none", "", fs.ErrNotExist},
	} {
		got, err := bounded.ReadFile(test.fsys, test.file, 5)
		if !errors.Is(err, test.err) || string(got) != test.want || err == nil && got == nil {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

func TestContentInMemoryIsNotCopied(t *testing.T) {
	held, content := tree.New(), []byte("a: 1")
	if err := held.Add("a", content); err != nil {
		t.Fatal(err)
	}
	got, err := bounded.ReadFile(held.FS(), "a", 100)
	if err != nil || &got[0] != &content[0] {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBufferKeepsTheBeginning(t *testing.T) {
	for text, exceeds := range map[string]int{"": 0, "1234": 0, "12345": 0, "123456": 1} {
		exceeded := 0
		kept := &bounded.Buffer{Most: 5, Exceed: func() { exceeded++ }}
		if n, err := io.Copy(kept, strings.NewReader(text)); n != int64(len(text)) || err != nil {
			t.Errorf("%q: %d bytes, %v", text, n, err)
		}
		if string(kept.Kept) != text[:min(len(text), 5)] || exceeded != exceeds {
			t.Errorf("%q: kept %q, and the limit was exceeded %d times", text, kept.Kept, exceeded)
		}
	}
	several := &bounded.Buffer{Most: 5}
	for _, text := range []string{"123", "456", "789"} {
		if _, err := several.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if string(several.Kept) != "12345" {
		t.Errorf("kept %q of several texts", several.Kept)
	}
}
