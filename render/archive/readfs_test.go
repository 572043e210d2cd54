// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

func TestReadFS(t *testing.T) {
	for _, tc := range []struct {
		name string
		fsys fstest.MapFS
		want []file
	}{
		{"an empty directory", fstest.MapFS{}, nil},
		{"files, whatever their mode", fstest.MapFS{"a/b": {Data: []byte("1"), Mode: 0o755}, "c": {}}, []file{{"a/b", "1"}, {"c", ""}}},
		{"empty directories leave no trace", fstest.MapFS{"a/b": {Mode: fs.ModeDir | 0o755}, "c": {}}, []file{{"c", ""}}},
		{
			"repositories are skipped, with what they hold",
			fstest.MapFS{".git/config": {}, ".git/link": {Mode: fs.ModeSymlink}, "sub/.git": {Data: []byte("gitdir: x")}, "sub/a": {}, ".gitignore": {}},
			[]file{{".gitignore", ""}, {"sub/a", ""}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ReadFS(context.Background(), tc.fsys, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(contents(got), tc.want) {
				t.Errorf("got %q, want %q", contents(got), tc.want)
			}
		})
	}
}

func TestReadFSRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		path   string
		mode   fs.FileMode
		reason string
	}{
		{"a symbolic link", "a/link", fs.ModeSymlink, "symbolic link is not allowed: Flux drops links, so store the file itself, or leave it out by include"},
		{"a socket", "a/socket", fs.ModeSocket, "socket is not allowed"},
		{"a named pipe", "a/pipe", fs.ModeNamedPipe, "named pipe is not allowed"},
		{"a character device", "a/null", fs.ModeDevice | fs.ModeCharDevice, "character device is not allowed"},
		{"a block device", "a/sda", fs.ModeDevice, "block device is not allowed"},
		{"what nobody knows", "a/x", fs.ModeIrregular, "entry of an unknown type is not allowed"},
		{"a backslash", `a\b`, 0, "path contains a backslash"},
		{"a directory with a newline", "a\nb", fs.ModeDir, "path contains a control character"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadFS(context.Background(), fstest.MapFS{tc.path: {Mode: tc.mode}, "zz": {}}, Limits{})
			checkError(t, err, Error{Path: tc.path, Reason: tc.reason})
		})
	}
}

// TestReadFSOfARoot uses the real thing: a link to a file outside, and a link to
// one inside.
func TestReadFSOfARoot(t *testing.T) {
	for _, target := range []string{"/etc/hostname", "a"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		got, err := ReadFS(context.Background(), root.FS(), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if want := []file{{"a", "1"}}; !slices.Equal(contents(got), want) {
			t.Errorf("got %q, want %q", contents(got), want)
		}
		if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		_, err = ReadFS(context.Background(), root.FS(), Limits{})
		checkError(t, err, Error{Path: "link", Reason: "symbolic link is not allowed: Flux drops links, so store the file itself, or leave it out by include"})
	}
}

func TestReadFSRefusesARealSocket(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	_, err = ReadFS(context.Background(), os.DirFS(dir), Limits{})
	checkError(t, err, Error{Path: "s", Reason: "socket is not allowed"})
}

// tricky changes a file between the listing and the opening, or the size and
// the reading.
type tricky struct {
	fstest.MapFS
	open func(name string) (fs.File, error)
}

func (f tricky) Open(name string) (fs.File, error) {
	if name == "a" {
		return f.open(name)
	}
	return f.MapFS.Open(name)
}

// sized is a file that lies about its size.
type sized struct {
	fs.File
	fs.FileInfo
}

func (s sized) Stat() (fs.FileInfo, error) { return s, nil }
func (s sized) Size() int64                { return 3 }

func TestReadFSNoticesChanges(t *testing.T) {
	opens := func(mode fs.FileMode, content string, lie bool) fs.FS {
		return tricky{
			MapFS: fstest.MapFS{"a": {}},
			open: func(string) (fs.File, error) {
				file, err := fstest.MapFS{"b": {Mode: mode, Data: []byte(content)}}.Open("b")
				if err != nil || !lie {
					return file, err
				}
				info, err := file.Stat()
				return sized{file, info}, err
			},
		}
	}
	var own *Error
	_, err := ReadFS(context.Background(), opens(fs.ModeNamedPipe, "", false), Limits{})
	checkError(t, err, Error{Path: "a", Reason: "named pipe is not allowed"})
	if _, err = ReadFS(context.Background(), opens(0, "1234", true), Limits{}); !errors.Is(err, errGrown) || errors.As(err, &own) {
		t.Errorf("a file that grows: %v", err)
	}
	if _, err = ReadFS(context.Background(), opens(0, "12", true), Limits{}); err == nil || errors.As(err, &own) {
		t.Errorf("a file that shrinks: %v", err)
	}
	if got, err := ReadFS(context.Background(), opens(0, "123", true), Limits{}); err != nil || got.Size() != 3 {
		t.Errorf("a file that stays: %v", err)
	}
}

func TestReadFSReturnsTheFileSystemsError(t *testing.T) {
	broken := tricky{MapFS: fstest.MapFS{"a": {}}, open: func(string) (fs.File, error) { return nil, fs.ErrPermission }}
	_, err := ReadFS(context.Background(), broken, Limits{})
	var own *Error
	if !errors.Is(err, fs.ErrPermission) || errors.As(err, &own) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = ReadFS(ctx, fstest.MapFS{"a": {}}, Limits{})
	if !errors.Is(err, context.Canceled) || errors.As(err, &own) {
		t.Errorf("error is %v", err)
	}
}
