// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// images skips what ends so.
func images(path string, _ int64) bool { return strings.HasSuffix(path, ".png") }

func TestWhatIsSkippedIsThereWithoutItsContent(t *testing.T) {
	want := []file{{"a/1.png", ""}, {"a/2.yaml", "two"}, {"z.png", ""}}
	inArchive, err := ReadSome(context.Background(), bytes.NewReader(whole(t,
		entry{name: "a/1.png", body: strings.Repeat("x", 1000)}, entry{name: "a/2.yaml", body: "two"},
		entry{name: "z.png", body: "x"})),
		Limits{}, images, nil)
	if err != nil || !slices.Equal(contents(inArchive), want) {
		t.Errorf("the archive has %q, %v", contents(inArchive), err)
	}
	inDirectory, err := ReadSomeFS(context.Background(), fstest.MapFS{
		"a/1.png": {Data: make([]byte, 1000)}, "a/2.yaml": {Data: []byte("two")}, "z.png": {Data: []byte("x")}}, Limits{}, images, nil)
	if err != nil || !slices.Equal(contents(inDirectory), want) {
		t.Errorf("the directory has %q, %v", contents(inDirectory), err)
	}
}

func TestLinksThatAreOutsideAreLeftOut(t *testing.T) {
	directory := fstest.MapFS{"a/1.yaml": {Data: []byte("one")}, "a/link": {Mode: fs.ModeSymlink}}
	isOutside := func(path string) bool { return path == "a/link" }
	got, err := ReadSomeFS(context.Background(), directory, Limits{}, nil, isOutside)
	if want := []file{{"a/1.yaml", "one"}}; err != nil || !slices.Equal(contents(got), want) {
		t.Errorf("the directory has %q, %v", contents(got), err)
	}
	directory["b"] = &fstest.MapFile{Mode: fs.ModeSymlink}
	_, err = ReadSomeFS(context.Background(), directory, Limits{}, nil, isOutside)
	checkError(t, err, Error{Path: "b", Reason: "symbolic link is not allowed: Flux drops links, so store the file itself, or leave it out by include"})
}

func TestFilesArePassedOnWhileTheArchiveIsRead(t *testing.T) {
	var passed []file
	_, err := ReadSome(context.Background(), bytes.NewReader(whole(t,
		entry{name: "b.yaml", body: "b"}, entry{name: "a.png", body: "x"}, entry{name: "./empty"}, entry{name: "b.yaml", body: "twice"})),
		Limits{}, images,
		func(path string, content []byte) { passed = append(passed, file{path, string(content)}) })
	if want := []file{{"b.yaml", "b"}, {"empty", ""}}; err == nil || !slices.Equal(passed, want) {
		t.Errorf("passed on are %q, want %q, and an error: %v", passed, want, err)
	}
}

func TestWhatIsSkippedIsCheckedAllTheSame(t *testing.T) {
	large := entry{name: "a.png", body: strings.Repeat("x", 2000)}
	for _, test := range []struct {
		name    string
		archive []byte
		limits  Limits
		want    string
	}{
		{"the size of a file", whole(t, large), Limits{File: 1999}, "bytes of the file over the limit of 1999"},
		{"the size of all files", whole(t, large), Limits{Total: 3000}, "uncompressed bytes over the limit of 3000"},
		{"the number of files", whole(t, large, entry{name: "b.png"}), Limits{Files: 1}, "number of entries over the limit of 1"},
		{"a file that is there twice", whole(t, large, large), Limits{}, "duplicate file"},
		{"a file that is a directory as well", whole(t, large, entry{name: "a.png/b"}), Limits{}, `parent "a.png" is a file`},
		{"a climbing path", whole(t, entry{name: "../a.png"}), Limits{}, `path has a ".." element`},
		{"a link", whole(t, entry{name: "a.png", kind: tar.TypeSymlink, link: "b"}), Limits{}, "symbolic link is not allowed: Flux drops links, so store the file itself, or leave it out by include"},
		{"a truncated file", compress(t, raw(large)[:1500]), Limits{}, "malformed: unexpected EOF"},
		{"a missing end", compress(t, raw(large)), Limits{}, "truncated: no end of archive"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadSome(context.Background(), bytes.NewReader(test.archive), test.limits, images, nil)
			var refused *Error
			if !errors.As(err, &refused) || refused.Reason != test.want {
				t.Errorf("ReadSome() = %v, want %s", err, test.want)
			}
		})
	}
}

func TestCostOfSkippedFiles(t *testing.T) {
	var entries []entry
	for i := range 10 {
		entries = append(entries, entry{name: string(rune('a'+i)) + ".png", body: strings.Repeat("x", 8<<20)})
	}
	packed := whole(t, entries...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadSome(context.Background(), bytes.NewReader(packed), Limits{}, images, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("reading 80 MiB that nobody needs allocates %d bytes", allocated)
	}
}
