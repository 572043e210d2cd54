// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	fluxtar "github.com/fluxcd/pkg/tar"
	"github.com/klauspost/compress/gzip"

	"github.com/winnow-dev/winnow/render/tree"
)

// sample has paths for every form of a header, and contents around a block and
// around the chunks in which they are read.
func sample() []file {
	long := strings.Repeat("d", 90)
	return []file{
		{"a-b/x", "before a/x by bytes"},
		{"a/x", "one\n"},
		{"applications/argocd/application.yaml", strings.Repeat("a", blockSize)},
		{"empty", ""},
		{"größe/日本", "PAX, for it is not ASCII"},
		{"kustomization.yaml", strings.Repeat("k", blockSize+1)},
		{"large", strings.Repeat("0123456789abcdef", 3*chunkSize/16+1)},
		{long + "/" + long, "USTAR, split"},
		{long + long, "PAX, for it cannot be split"},
		{strings.Repeat(long[1:]+"/", 5) + "x", "PAX, for it is long"},
		{"z", strings.Repeat("z", chunkSize)},
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	files := sample()
	first := write(t, newTree(t, files...))
	for range 5 {
		rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		if !bytes.Equal(write(t, newTree(t, files...)), first) {
			t.Fatal("another run or another order gives other bytes")
		}
	}
}

// TestWriteStaysTheSame notices when another release, of Go or of this package,
// would publish every artifact anew.
func TestWriteStaysTheSame(t *testing.T) {
	const want = "14a2778d171a23a3d522e2505a5b080e2f492dfc0cce9caebefa400bbb85571f"
	sum := sha256.Sum256(decompress(t, write(t, newTree(t, sample()...))))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the tar's sha256 is %s, want %s", got, want)
	}
}

func TestTheGzipHeaderIsBare(t *testing.T) {
	header := write(t, newTree(t))[:10]
	// magic, deflate, no flags, no time, no extra flags, unknown system
	want := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	if !bytes.Equal(header, want) {
		t.Errorf("header is % x, want % x", header, want)
	}
}

func TestReadReturnsWhatWriteWrote(t *testing.T) {
	for _, files := range [][]file{nil, {{"a", ""}}, sample()} {
		want := newTree(t, files...)
		got, err := Read(context.Background(), bytes.NewReader(write(t, want)), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(contents(got), contents(want)) || got.Digest() != want.Digest() {
			t.Errorf("read %q, wrote %q", got.Paths(), want.Paths())
		}
	}
}

func TestFluxUnpacksWhatWriteWrote(t *testing.T) {
	want := newTree(t, append(sample(), file{"a..b/..c", "dots are not climbing"})...)
	dir := t.TempDir()
	if err := fluxtar.Untar(bytes.NewReader(write(t, want)), dir); err != nil {
		t.Fatal(err)
	}
	checkDir(t, dir, want)
}

func TestTarUnpacksWhatWriteWrote(t *testing.T) {
	command, err := exec.LookPath("tar")
	if err != nil {
		t.Skip(err)
	}
	want := newTree(t, sample()...)
	list := exec.Command(command, "-tzf", "-")
	list.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TAR_OPTIONS=--quoting-style=literal")
	list.Stdin = bytes.NewReader(write(t, want))
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(got, want.Paths()) {
		t.Errorf("tar lists %q, want %q", got, want.Paths())
	}
	dir := t.TempDir()
	unpack := exec.Command(command, "-xzf", "-", "-C", dir)
	unpack.Stdin = bytes.NewReader(write(t, want))
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	checkDir(t, dir, want)
}

func checkDir(t *testing.T, dir string, want *tree.Tree) {
	t.Helper()
	got, err := ReadFS(context.Background(), os.DirFS(dir), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(contents(got), contents(want)) {
		t.Errorf("unpacked %q, want %q", got.Paths(), want.Paths())
	}
}

// brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

var errDiskFull = errors.New("disk full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errDiskFull
	}
	return len(p), nil
}

func TestWriteReturnsTheWritersError(t *testing.T) {
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	files := newTree(t, file{"incompressible", string(random)})
	for _, after := range []int{0, 10, 500_000, len(write(t, files)) - 1} {
		if err := Write(&brokenWriter{left: after}, files); !errors.Is(err, errDiskFull) {
			t.Errorf("after %d bytes: error is %v", after, err)
		}
	}
}

// panicking panics in the middle of an archive.
type panicking struct{ brokenWriter }

func (w *panicking) Write(p []byte) (int, error) {
	n, err := w.brokenWriter.Write(p)
	if err != nil {
		panic(err)
	}
	return n, nil
}

// TestAReusedCompressorWritesTheSame uses the compressors of writes that failed, or panicked, in the middle.
func TestAReusedCompressorWritesTheSame(t *testing.T) {
	text := func(r *rand.Rand) string {
		words := make([]string, r.IntN(20_000))
		for i := range words {
			words[i] = strings.Repeat("word", r.IntN(3)) + string(rune('a'+r.IntN(26)))
		}
		return strings.Join(words, " ")
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("at once with others ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			for range 3 {
				files := newTree(t, file{"a", text(r)}, file{"b", text(r)})
				var fresh, got bytes.Buffer
				compressor := gzip.NewWriter(&fresh)
				compressor.ModTime = time.Unix(0, 0)
				if err := errors.Join(writeTar(compressor, files, false), compressor.Close()); err != nil {
					t.Fatal(err)
				}
				if err := Write(&got, files); err != nil || !bytes.Equal(got.Bytes(), fresh.Bytes()) {
					t.Fatalf("a reused compressor gives other bytes: %v", err)
				}
				broken := brokenWriter{left: r.IntN(got.Len())}
				if err := Write(&broken, files); !errors.Is(err, errDiskFull) {
					t.Errorf("error is %v", err)
				}
				func() {
					defer func() { _ = recover() }()
					_ = Write(&panicking{brokenWriter{left: r.IntN(got.Len())}}, files)
				}()
			}
		})
	}
}
