// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/winnow-dev/winnow/render/tree"
)

var errNetwork = errors.New("connection reset")

// TestReadReturnsTheReadersError cuts the reader off at every byte: that must
// never look like bad content, which nobody would fetch again.
func TestReadReturnsTheReadersError(t *testing.T) {
	archive := whole(t, entry{name: "a", body: "1"}, entry{name: "b/c", body: "2"})
	for _, tc := range []struct {
		name string
		err  error
	}{
		{"a failure", errNetwork},
		{"a failure that wraps the end of file", fmt.Errorf("get: %w", io.EOF)},
		{"a body that is shorter than announced", io.ErrUnexpectedEOF},
		{"a reader that makes no progress", io.ErrNoProgress},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for cut := range len(archive) + 1 {
				r := io.MultiReader(bytes.NewReader(archive[:cut]), iotest.ErrReader(tc.err))
				got, err := Read(context.Background(), r, Limits{})
				var own *Error
				if got != nil || !errors.Is(err, tc.err) || errors.As(err, &own) {
					t.Fatalf("after %d bytes: tree is %v, error is %v", cut, got, err)
				}
			}
		})
	}
}

// TestAFailureIsNotForgotten fails once, behind a gzip member, where the last
// bytes and the failure come in one: io.ReadFull keeps the bytes and drops the
// failure, and what follows must not look like the end.
func TestAFailureIsNotForgotten(t *testing.T) {
	const text = "one member"
	for name, then := range map[string]io.Reader{
		"the reader fails":       &failingOnce{},
		"no gzip member follows": strings.NewReader("garbage that is longer than a header"),
	} {
		member := compress(t, []byte(text))
		in := &source{ctx: context.Background(), r: io.MultiReader(bytes.NewReader(member), then), left: 1000, max: 1000}
		r := &members{r: bufio.NewReader(in)}
		if _, err := io.ReadFull(r, make([]byte, len(text))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rest, err := io.ReadAll(r); err == nil || len(rest) > 0 {
			t.Errorf("%s: the end follows, after %q", name, rest)
		}
	}
}

// failingOnce fails, and is at its end afterwards.
type failingOnce struct{ failed bool }

func (f *failingOnce) Read([]byte) (int, error) {
	if f.failed {
		return 0, io.EOF
	}
	f.failed = true
	return 0, errNetwork
}

func TestReadReadsInAnyPortions(t *testing.T) {
	want := newTree(t, sample()...)
	archive := write(t, want)
	for name, r := range map[string]io.Reader{
		"one byte at a time":    iotest.OneByteReader(bytes.NewReader(archive)),
		"half of it at a time":  iotest.HalfReader(bytes.NewReader(archive)),
		"the end with the data": iotest.DataErrReader(bytes.NewReader(archive)),
	} {
		got, err := Read(context.Background(), r, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.Digest() != want.Digest() {
			t.Errorf("%s: read %q", name, got.Paths())
		}
	}
}

// cancelling cancels a context once some bytes are read.
type cancelling struct {
	r      io.Reader
	after  int
	cancel context.CancelFunc
}

func (c *cancelling) Read(p []byte) (int, error) {
	if c.after <= 0 {
		c.cancel()
	}
	n, err := c.r.Read(p[:min(len(p), 1000)])
	c.after -= n
	return n, err
}

func TestReadStopsWithItsContext(t *testing.T) {
	archive := write(t, incompressible(t, 100))
	for _, after := range []int{0, 1000, len(archive) / 2} {
		ctx, cancel := context.WithCancel(context.Background())
		r := bytes.NewReader(archive)
		_, err := Read(ctx, &cancelling{r: r, after: after, cancel: cancel}, Limits{})
		var own *Error
		if !errors.Is(err, context.Canceled) || errors.As(err, &own) {
			t.Errorf("after %d bytes: error is %v", after, err)
		}
		if read := len(archive) - r.Len(); read > after+10_000 {
			t.Errorf("cancelled after %d bytes, read %d", after, read)
		}
	}
}

// incompressible has files of 7 KB, as applications with a logo are.
func incompressible(t testing.TB, files int) *tree.Tree {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	list := make([]file, files)
	for i := range list {
		content := make([]byte, 7<<10)
		for j := range content {
			content[j] = byte(random.Uint32())
			if j > 4<<10 {
				content[j] = "values: here\n"[j%13]
			}
		}
		list[i] = file{fmt.Sprintf("applications/app-%05d/application.yaml", i), string(content)}
	}
	return newTree(t, list...)
}

func BenchmarkWrite(b *testing.B) {
	files := incompressible(b, 1000)
	b.SetBytes(files.Size())
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, files); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	files := incompressible(b, 1000)
	archive := write(b, files)
	b.SetBytes(files.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), bytes.NewReader(archive), Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
