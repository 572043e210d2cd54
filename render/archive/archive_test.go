// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/winnow-dev/winnow/render/tree"
)

// entry is one entry of a handmade archive.
type entry struct {
	name string
	kind byte // zero means a regular file
	body string
	link string
	pax  map[string]string
}

// end is the two blocks that end an archive.
func end() []byte {
	return make([]byte, endSize)
}

// raw writes the entries by hand, since tar.Writer refuses to write most of
// what must be refused, and does not end the archive.
func raw(entries ...entry) []byte {
	var out bytes.Buffer
	for _, e := range entries {
		if len(e.pax) > 0 {
			var records bytes.Buffer
			for key, value := range e.pax {
				records.WriteString(record(key, value))
			}
			block(&out, entry{name: "PaxHeader", kind: tar.TypeXHeader, body: records.String()})
		}
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		block(&out, e)
	}
	return out.Bytes()
}

func block(out *bytes.Buffer, e entry) {
	var header [blockSize]byte
	copy(header[0:100], e.name)
	copy(header[100:], fmt.Sprintf("%07o\x00%07o\x00%07o\x00%011o\x00%011o\x00        ", 0o644, 0, 0, len(e.body), 0))
	header[156] = e.kind
	copy(header[157:257], e.link)
	copy(header[257:], "ustar\x0000")
	out.Write(checksummed(header[:]))
	out.WriteString(e.body)
	out.Write(make([]byte, padded(int64(len(e.body)))-int64(len(e.body))))
}

// checksummed sets the checksum of the header at the start of an archive.
func checksummed(plain []byte) []byte {
	copy(plain[148:156], "        ")
	sum := 0
	for _, b := range plain[:blockSize] {
		sum += int(b)
	}
	copy(plain[148:], fmt.Sprintf("%06o\x00 ", sum))
	return plain
}

// record is a PAX record, whose length counts its own digits.
func record(key, value string) string {
	size := len(key) + len(value) + 3
	for {
		s := fmt.Sprintf("%d %s=%s\n", size, key, value)
		if len(s) == size {
			return s
		}
		size = len(s)
	}
}

// whole is a complete archive of the entries.
func whole(t testing.TB, entries ...entry) []byte {
	t.Helper()
	return compress(t, append(raw(entries...), end()...))
}

func compress(t testing.TB, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decompress(t testing.TB, archive []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file is a path with its content.
type file struct{ path, content string }

func newTree(t testing.TB, files ...file) *tree.Tree {
	t.Helper()
	result := tree.New()
	for _, f := range files {
		if err := result.Add(f.path, []byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

// contents lists a tree for comparison.
func contents(t *tree.Tree) []file {
	var list []file
	for _, path := range t.Paths() {
		content, _ := t.Content(path)
		list = append(list, file{path, string(content)})
	}
	return list
}

func write(t testing.TB, files *tree.Tree) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, files); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkError compares what an *Error states about the archive.
func checkError(t *testing.T, err error, want Error) {
	t.Helper()
	var got *Error
	if !errors.As(err, &got) {
		t.Fatalf("error is %v, want an *Error", err)
	}
	if got.Path != want.Path || got.Reason != want.Reason || got.Limit != want.Limit {
		t.Errorf("error is %+v, want %+v", *got, want)
	}
}
