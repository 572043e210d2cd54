// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// TestLimits reads one archive, and one directory, exactly at each limit and
// then one beyond it.
func TestLimits(t *testing.T) {
	const deepest = "a/b/c/deepest"
	entries := []entry{
		{name: "a/", kind: tar.TypeDir},
		{name: "a/b/", kind: tar.TypeDir},
		{name: "a/b/c/", kind: tar.TypeDir},
		{name: deepest, body: strings.Repeat("x", 1000)},
		{name: "small", body: "x"},
	}
	archive := whole(t, entries...)
	total := int64(len(raw(entries...)) + endSize)
	fsys := fstest.MapFS{deepest: {Data: []byte(entries[3].body)}, "small": {Data: []byte("x")}}

	readArchive := func(l Limits) error {
		_, err := Read(context.Background(), bytes.NewReader(archive), l)
		return err
	}
	readDir := func(l Limits) error { _, err := ReadFS(context.Background(), fsys, l); return err }
	for _, tc := range []struct {
		name   string
		read   func(Limits) error
		limits func(less int) Limits // at the limit, less some
		path   string
		reason string
	}{
		{
			"compressed bytes of an archive", readArchive,
			func(less int) Limits { return Limits{Compressed: int64(len(archive) - less)} },
			"", "compressed bytes over the limit of",
		},
		{
			"uncompressed bytes of an archive", readArchive,
			func(less int) Limits { return Limits{Total: total - int64(less)} },
			"", "uncompressed bytes over the limit of",
		},
		{
			"uncompressed bytes of a directory", readDir,
			func(less int) Limits { return Limits{Total: total - int64(less)} },
			"", "uncompressed bytes over the limit of",
		},
		{
			"bytes of a file in an archive", readArchive,
			func(less int) Limits { return Limits{File: int64(1000 - less)} },
			deepest, "bytes of the file over the limit of",
		},
		{
			"bytes of a file in a directory", readDir,
			func(less int) Limits { return Limits{File: int64(1000 - less)} },
			deepest, "bytes of the file over the limit of",
		},
		{
			"entries of an archive", readArchive,
			func(less int) Limits { return Limits{Files: 5 - less} },
			"small", "number of entries over the limit of",
		},
		{
			"entries of a directory", readDir,
			func(less int) Limits { return Limits{Files: 5 - less} },
			"small", "number of entries over the limit of",
		},
		{
			"length of a path in an archive", readArchive,
			func(less int) Limits { return Limits{PathLength: len(deepest) - less} },
			deepest, "bytes of the path over the limit of",
		},
		{
			"length of a path in a directory", readDir,
			func(less int) Limits { return Limits{PathLength: len(deepest) - less} },
			deepest, "bytes of the path over the limit of",
		},
		{
			"bytes of all paths in an archive", readArchive,
			func(less int) Limits { return Limits{Paths: int64(len("a"+"a/b"+"a/b/c"+deepest+"small") - less)} },
			"", "bytes of all paths over the limit of",
		},
		{
			"bytes of all paths in a directory", readDir,
			func(less int) Limits { return Limits{Paths: int64(len("a"+"a/b"+"a/b/c"+deepest+"small") - less)} },
			"", "bytes of all paths over the limit of",
		},
		{
			"depth of an archive", readArchive,
			func(less int) Limits { return Limits{Depth: 4 - less} },
			deepest, "elements of the path over the limit of",
		},
		{
			"depth of a directory", readDir,
			func(less int) Limits { return Limits{Depth: 4 - less} },
			deepest, "elements of the path over the limit of",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.read(tc.limits(0)); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			err := tc.read(tc.limits(1))
			var over *Error
			if !errors.As(err, &over) {
				t.Fatalf("over the limit: %v", err)
			}
			if !over.Limit || over.Path != tc.path || !strings.HasPrefix(over.Reason, tc.reason) {
				t.Errorf("error is %+v", *over)
			}
		})
	}
}

func TestZeroAndNegativeLimitsMeanTheDefaults(t *testing.T) {
	want := Limits{Compressed: 64 << 20, Total: 256 << 20, File: 8 << 20, Files: 100_000, PathLength: 1024, Paths: 16 << 20, Depth: 16}
	for _, given := range []Limits{{}, {Compressed: -1, Total: -1, File: -1, Files: -1, PathLength: -1, Paths: -1, Depth: -1}} {
		if got := given.withDefaults(); got != want {
			t.Errorf("%+v means %+v", given, got)
		}
	}
	if got := DefaultLimits(); got != want {
		t.Errorf("defaults are %+v", got)
	}
	most := Limits{Compressed: math.MaxInt64, Total: math.MaxInt64, File: math.MaxInt64, Files: math.MaxInt, PathLength: math.MaxInt, Paths: math.MaxInt64, Depth: math.MaxInt}
	if _, err := Read(context.Background(), bytes.NewReader(write(t, newTree(t, sample()...))), most); err != nil {
		t.Errorf("without limits: %v", err)
	}
	one := Limits{Compressed: 1, Total: 1, File: 1, Files: 1, PathLength: 1, Paths: 1, Depth: 1}
	if got := one.withDefaults(); got != one {
		t.Errorf("%+v has become %+v", one, got)
	}
}

// zeros returns 1 GiB of zeros, compressed, in members of 16 MiB each.
func zeros(t *testing.T) []byte {
	return bytes.Repeat(compress(t, make([]byte, 16<<20)), 64)
}

func header(size int64) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bomb", Size: size}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// TestCostOfBombs checks that a bomb is stopped before it has unfolded: little is
// read, and little is allocated.
func TestCostOfBombs(t *testing.T) {
	var padding []byte
	for range 64 {
		padding = append(padding, raw(entry{kind: tar.TypeXHeader, body: record("comment", strings.Repeat("x", 1<<19))})...)
	}
	for _, tc := range []struct {
		name   string
		bomb   []byte
		limits Limits
		path   string
	}{
		{"a file that says how large it is", slices.Concat(compress(t, header(1<<30)), zeros(t)), Limits{}, "bomb"},
		{"a file that is allowed to be so large", slices.Concat(compress(t, header(1<<30)), zeros(t)), Limits{File: 1 << 40, Total: 4 << 20}, ""},
		{"a file that claims an exabyte", slices.Concat(compress(t, header(1<<60)), zeros(t)), Limits{File: 1 << 62, Total: 4 << 20}, ""},
		{"zeros behind the end of the archive", slices.Concat(compress(t, end()), zeros(t)), Limits{Total: 4 << 20}, ""},
		{"10 million directories", bytes.Repeat(compress(t, raw(slices.Repeat([]entry{{name: "a/", kind: tar.TypeDir}}, 20_000)...)), 500), Limits{}, "a/"},
		{"PAX headers without end", slices.Concat(compress(t, padding), zeros(t)), Limits{Total: 4 << 20}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			r := bytes.NewReader(tc.bomb)
			runtime.ReadMemStats(&before)
			_, err := Read(context.Background(), r, tc.limits)
			runtime.ReadMemStats(&after)
			var over *Error
			if !errors.As(err, &over) || !over.Limit || over.Path != tc.path {
				t.Fatalf("error is %v", err)
			}
			if read := len(tc.bomb) - r.Len(); read > 300_000 {
				t.Errorf("read %d of %d compressed bytes", read, len(tc.bomb))
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
				t.Errorf("allocated %d bytes", allocated)
			}
		})
	}
}

// Names and records in headers of their own are bounded as well.
func TestCostOfLargeHeaders(t *testing.T) {
	var records strings.Builder
	for records.Len() < 1<<20-100 {
		records.WriteString(record("x"+strconv.Itoa(records.Len()), ""))
	}
	claim := func(kind byte) []byte {
		plain := raw(entry{name: "x", kind: kind})
		copy(plain[124:136], "10000000000\x00") // a gibibyte, in octal
		return checksummed(plain)
	}
	for name, test := range map[string]struct {
		plain []byte
		want  string
	}{
		"a PAX header of a gibibyte":        {claim(tar.TypeXHeader), "archive/tar: header field too long"},
		"a global PAX header of a gibibyte": {claim(tar.TypeXGlobalHeader), "archive/tar: header field too long"},
		"a name of a gibibyte":              {claim(tar.TypeGNULongName), "archive/tar: header field too long"},
		"a link to a name of a gibibyte":    {claim(tar.TypeGNULongLink), "archive/tar: header field too long"},
		"a PAX header of 70,000 records":    {append(raw(entry{kind: tar.TypeXHeader, body: records.String()}, entry{name: "../a"}), end()...), `path has a ".." element`},
	} {
		t.Run(name, func(t *testing.T) {
			archive := slices.Concat(compress(t, test.plain), zeros(t))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(context.Background(), bytes.NewReader(archive), Limits{})
			runtime.ReadMemStats(&after)
			var own *Error
			if !errors.As(err, &own) || !strings.Contains(own.Reason, test.want) {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
				t.Errorf("allocated %d bytes", allocated)
			}
		})
	}
}

func TestAHeaderAllocatesNothingUntilBytesCome(t *testing.T) {
	archive := compress(t, header(1<<40))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(context.Background(), bytes.NewReader(archive), Limits{File: 1 << 50, Total: 1 << 50})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error is %v", err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("allocated %d bytes for a header", allocated)
	}
}
