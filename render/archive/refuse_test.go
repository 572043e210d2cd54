// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/tree"
)

func TestReadRefusesEntries(t *testing.T) {
	const climbs, double = `path has a ".." element`, "duplicate file"
	for _, tc := range []struct {
		name    string
		entries []entry
		reason  string // of the last entry
	}{
		{"a symbolic link", []entry{{name: "applications/x/y", kind: tar.TypeSymlink, link: "/etc/passwd"}}, "symbolic link is not allowed: Flux drops links, so store the file itself, or leave it out by include"},
		{"a hard link", []entry{{name: "a"}, {name: "b", kind: tar.TypeLink, link: "a"}}, "hard link is not allowed"},
		{"a character device", []entry{{name: "a", kind: tar.TypeChar}}, "character device is not allowed"},
		{"a block device", []entry{{name: "a", kind: tar.TypeBlock}}, "block device is not allowed"},
		{"a named pipe", []entry{{name: "a", kind: tar.TypeFifo}}, "named pipe is not allowed"},
		{"a contiguous file", []entry{{name: "a", kind: tar.TypeCont}}, "entry of type '7' is not allowed"},
		{"a volume label", []entry{{name: "a", kind: 'V'}}, "entry of type 'V' is not allowed"},
		{
			"a sparse file in PAX 0.1",
			[]entry{{name: "a", pax: map[string]string{
				"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": "1099511627776",
				"GNU.sparse.numblocks": "0", "GNU.sparse.map": "",
			}}},
			"sparse file is not allowed",
		},
		{
			"a sparse file of an unknown version",
			[]entry{{name: "a", pax: map[string]string{"GNU.sparse.major": "9", "GNU.sparse.minor": "9"}}},
			"sparse file is not allowed",
		},
		{"an absolute path", []entry{{name: "/etc/passwd"}}, "path is absolute"},
		{"a climbing path", []entry{{name: "a/../../b"}}, climbs},
		{"a climbing path after ./", []entry{{name: "./../b"}}, climbs},
		{"a climbing directory", []entry{{name: "../", kind: tar.TypeDir}}, climbs},
		{"an absolute directory", []entry{{name: "/", kind: tar.TypeDir}}, "path is absolute"},
		{"a directory without a name", []entry{{name: "", kind: tar.TypeDir}}, "path is empty"},
		{"a file without a name", []entry{{name: ""}}, "path is empty"},
		{"a file that is the root", []entry{{name: "./"}}, "path is empty"},
		{"a file with a directory's name", []entry{{name: "a/"}}, "path has an empty element"},
		{"a backslash", []entry{{name: `a\b`}}, "path contains a backslash"},
		{"a control character", []entry{{name: "a\nb"}}, "path contains a control character"},
		{"a path that is not UTF-8", []entry{{name: "a\xff"}}, "path is not valid UTF-8"},
		{"a dot within a path", []entry{{name: "a/./b"}}, `path has a "." element`},
		{"a file twice", []entry{{name: "a/b"}, {name: "a/b"}}, double},
		{"a file twice, once after ./", []entry{{name: "a/b"}, {name: "./a/b"}}, double},
		{"a file that is a parent", []entry{{name: "a/b"}, {name: "a"}}, "file is a directory as well"},
		{"a file below a file", []entry{{name: "a"}, {name: "a/b"}}, `parent "a" is a file`},
		{"a file that is a directory", []entry{{name: "a/", kind: tar.TypeDir}, {name: "a"}}, "file is a directory as well"},
		{"a file that is a directory's parent", []entry{{name: "a/b/", kind: tar.TypeDir}, {name: "a"}}, "file is a directory as well"},
		{"a directory that is a file", []entry{{name: "a"}, {name: "a", kind: tar.TypeDir}}, "directory is a file as well"},
		{"a directory below a file", []entry{{name: "a"}, {name: "a/b/c/", kind: tar.TypeDir}}, "directory is a file as well"},
		{"a path in a PAX record", []entry{{name: "a", pax: map[string]string{"path": "../b"}}}, climbs},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Read(context.Background(), bytes.NewReader(whole(t, tc.entries...)), Limits{})
			if got != nil {
				t.Errorf("a tree came with the error: %q", got.Paths())
			}
			name := tc.entries[len(tc.entries)-1].name
			if path := tc.entries[len(tc.entries)-1].pax["path"]; path != "" {
				name = path
			}
			checkError(t, err, Error{Path: name, Reason: tc.reason})
		})
	}
}

func TestTheFirstRefusedEntryEndsTheReading(t *testing.T) {
	archive := whole(t, entry{name: "a"}, entry{name: "../first"}, entry{name: "../second"})
	_, err := Read(context.Background(), bytes.NewReader(archive), Limits{})
	checkError(t, err, Error{Path: "../first", Reason: `path has a ".." element`})
	var path *tree.PathError
	if !errors.As(err, &path) || path.Path != "../first" {
		t.Errorf("error does not wrap the path's: %v", err)
	}
	if want := `archive entry "../first": path has a ".." element`; err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestAnErrorIsShort(t *testing.T) {
	archive := whole(t, entry{name: "a", pax: map[string]string{"path": strings.Repeat("\x01", 100_000)}})
	_, err := Read(context.Background(), bytes.NewReader(archive), Limits{})
	if err == nil || len(err.Error()) > 1024 {
		t.Errorf("error has %d bytes", len(err.Error()))
	}
}

func TestReadAccepts(t *testing.T) {
	for _, tc := range []struct {
		name    string
		archive []byte
		want    []file
	}{
		{"an archive without entries", whole(t), nil},
		{"files", whole(t, entry{name: "b/c", body: "1"}, entry{name: "a", body: "2"}), []file{{"a", "2"}, {"b/c", "1"}}},
		{
			"directories, before, after and without their files",
			whole(t, entry{name: "a/", kind: tar.TypeDir}, entry{name: "a/b"}, entry{name: "c/d"}, entry{name: "c", kind: tar.TypeDir},
				entry{name: "a/", kind: tar.TypeDir}, entry{name: "empty/deep/", kind: tar.TypeDir}),
			[]file{{"a/b", ""}, {"c/d", ""}},
		},
		{
			"what tar -C DIR . writes",
			whole(t, entry{name: "./", kind: tar.TypeDir}, entry{name: "./a/", kind: tar.TypeDir}, entry{name: "./a/b", body: "1"}),
			[]file{{"a/b", "1"}},
		},
		{"a root that is only a dot", whole(t, entry{name: ".", kind: tar.TypeDir}, entry{name: "a"}), []file{{"a", ""}}},
		{"names that differ in case", whole(t, entry{name: "a"}, entry{name: "A"}), []file{{"A", ""}, {"a", ""}}},
		{
			"what git archive writes",
			whole(t, entry{name: "pax_global_header", kind: tar.TypeXGlobalHeader, body: record("comment", strings.Repeat("0", 40))}, entry{name: "a"}),
			[]file{{"a", ""}},
		},
		{"a file of an old tar", whole(t, entry{name: "a", kind: '\x00', body: "1"}), []file{{"a", "1"}}},
		{"extended attributes", whole(t, entry{name: "a", pax: map[string]string{"SCHILY.xattr.user.x": "y"}}), []file{{"a", ""}}},
		{
			"several gzip members, one of them empty",
			slices.Concat(compress(t, raw(entry{name: "a", body: "1"})), compress(t, nil), compress(t, raw(entry{name: "b"})), compress(t, end())),
			[]file{{"a", "1"}, {"b", ""}},
		},
		{
			"an end that is padded to a record of 20 blocks",
			compress(t, append(raw(entry{name: "a", body: "1"}), make([]byte, 18*blockSize)...)),
			[]file{{"a", "1"}},
		},
		{"a file that is all zeros", whole(t, entry{name: "a", body: strings.Repeat("\x00", 2*endSize)}), []file{{"a", strings.Repeat("\x00", 2*endSize)}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Read(context.Background(), bytes.NewReader(tc.archive), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(contents(got), tc.want) {
				t.Errorf("got %q, want %q", contents(got), tc.want)
			}
		})
	}
}

func TestReadRefusesMalformedStreams(t *testing.T) {
	good := whole(t, entry{name: "a", body: strings.Repeat("1", 1000)})
	plain := raw(entry{name: "a", body: strings.Repeat("1", 1000)})
	broken := bytes.Clone(good)
	broken[len(broken)-5] ^= 1 // the checksum
	for _, tc := range []struct {
		name    string
		archive []byte
		is      error // where the cause is known
	}{
		{"nothing at all", nil, io.ErrUnexpectedEOF},
		{"what is not gzip", []byte("PK\x03\x04 this is another format"), nil},
		{"a tar without gzip", append(bytes.Clone(plain), end()...), nil},
		{"a gzip header alone", good[:10], io.ErrUnexpectedEOF},
		{"gzip that is cut in its data", good[:len(good)/2], io.ErrUnexpectedEOF},
		{"gzip that is cut in its checksum", good[:len(good)-1], io.ErrUnexpectedEOF},
		{"gzip with a wrong checksum", broken, nil},
		{"a byte behind gzip", append(bytes.Clone(good), 0), nil},
		{"text behind gzip", append(bytes.Clone(good), "garbage behind the archive"...), nil},
		{"a gzip header behind gzip", append(bytes.Clone(good), good[:10]...), nil},
		{"a gzip header with an endless name behind gzip", append(bytes.Clone(good), "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xffname"...), io.ErrUnexpectedEOF},
		{"tar that is cut in a header", compress(t, plain[:100]), io.ErrUnexpectedEOF},
		{"tar that is cut in a file", compress(t, plain[:blockSize+10]), io.ErrUnexpectedEOF},
		{"tar that is cut in the padding of a file", compress(t, plain[:blockSize+1000]), nil},
		{"tar that is cut behind a file", compress(t, plain), nil},
		{"tar that is cut within its end", compress(t, append(bytes.Clone(plain), make([]byte, blockSize)...)), nil},
		{"tar that is cut behind a file of zeros", compress(t, raw(entry{name: "a", body: string(end())})), nil},
		{"tar that is cut behind a PAX header", compress(t, raw(entry{kind: tar.TypeXHeader, body: record("path", "b")})), nil},
		{"a PAX header without a file", whole(t, entry{kind: tar.TypeXHeader, body: record("path", "b")}), nil},
		{"tar with a wrong checksum", compress(t, bytes.Replace(append(plain, end()...), []byte("a\x00"), []byte("b\x00"), 1)), tar.ErrHeader},
		{"bytes behind the end of the tar", compress(t, slices.Concat(plain, end(), []byte("x"))), nil},
		{"a tar behind the end of the tar", compress(t, slices.Concat(plain, end(), raw(entry{name: "hidden"}), end())), nil},
		{"a tar behind the end, in a member of its own", append(bytes.Clone(good), whole(t, entry{name: "hidden"})...), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Read(context.Background(), bytes.NewReader(tc.archive), Limits{})
			var own *Error
			if got != nil || !errors.As(err, &own) {
				t.Fatalf("tree is %v, error is %v, want an *Error", got, err)
			}
			if own.Limit || own.Path != "" {
				t.Errorf("error is %+v", own)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("error is %v, want %v", err, tc.is)
			}
		})
	}
}
