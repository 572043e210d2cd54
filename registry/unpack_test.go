// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/winnow-dev/winnow/registry"
)

// blobs is a registry that serves these blobs.
type blobs map[digest.Digest][]byte

func (b blobs) Fetch(_ context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b[d.Digest])), nil
}

// entry is one of a layer: a file of the content, unless its type says otherwise.
type entry struct {
	name, content string
	kind          byte
}

// layerOf returns a tar of the entries.
func layerOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o600, Size: int64(len(e.content))}
		switch {
		case strings.HasSuffix(e.name, "/"):
			header.Typeflag = tar.TypeDir
		case e.kind == tar.TypeSymlink, e.kind == tar.TypeLink:
			header.Linkname, header.Size = e.content, 0
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			_, _ = io.WriteString(w, e.content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func zipped(plain []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, _ = w.Write(plain)
	_ = w.Close()
	return packed.Bytes()
}

// imageOf returns an image of layers, and a registry that has them.
func imageOf(mediaType string, layers ...[]byte) (registry.Image, blobs) {
	from, image := blobs{}, registry.Image{}
	for _, layer := range layers {
		d := content.NewDescriptorFromBytes(mediaType, layer)
		from[d.Digest] = layer
		image.Layers = append(image.Layers, d)
	}
	return image, from
}

// unpacked returns the files of configs in an image. One that is there twice has the text of both.
func unpacked(ctx context.Context, image registry.Image, from content.Fetcher, limits registry.UnpackLimits) (map[string]string, error) {
	var packed bytes.Buffer
	if err := image.Unpack(ctx, from, "configs", &packed, limits); err != nil {
		return nil, err
	}
	plain, err := gzip.NewReader(&packed)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for in := tar.NewReader(plain); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		files[header.Name] += string(text)
	}
}

func TestLayersAreApplied(t *testing.T) {
	base := []entry{{name: "configs/"}, {name: "configs/a/"}, {name: "configs/a/catalog.yaml", content: "a1"}, {name: "configs/b/catalog.yaml", content: "b1"}}
	both := map[string]string{"a/catalog.yaml": "a1", "b/catalog.yaml": "b1"}
	onlyA, onlyB := map[string]string{"a/catalog.yaml": "a1"}, map[string]string{"b/catalog.yaml": "b1"}
	for _, test := range []struct {
		name   string
		layers [][]entry
		want   map[string]string
	}{
		{"one layer", [][]entry{base}, both},
		{"names from ./ and from / are the same", [][]entry{{{name: "./configs/a/catalog.yaml", content: "a1"}, {name: "/configs//b/./catalog.yaml", content: "b1"}}}, both},
		{"what is outside is left out", [][]entry{base, {{name: "bin/opm", content: "x"}, {name: "configs-old/c", content: "x"}, {name: "a/configs/c", content: "x"}}}, both},
		{"a higher layer replaces a file", [][]entry{base, {{name: "configs/a/catalog.yaml", content: "a2"}}},
			map[string]string{"a/catalog.yaml": "a2", "b/catalog.yaml": "b1"}},
		{"the highest of three layers wins", [][]entry{base, {{name: "configs/a/catalog.yaml", content: "a2"}}, {{name: "configs/a/catalog.yaml", content: "a3"}}},
			map[string]string{"a/catalog.yaml": "a3", "b/catalog.yaml": "b1"}},
		{"a whiteout removes a file", [][]entry{base, {{name: "configs/a/.wh.catalog.yaml"}}}, onlyB},
		{"a whiteout removes a directory", [][]entry{base, {{name: "configs/.wh.a"}}}, onlyB},
		{"a whiteout in the layer of a file is about lower layers, before it", [][]entry{base, {{name: "configs/a/.wh.catalog.yaml"}, {name: "configs/a/catalog.yaml", content: "a2"}, {name: "configs/.wh.b"}}},
			map[string]string{"a/catalog.yaml": "a2"}},
		{"a whiteout in the layer of a file is about lower layers, after it", [][]entry{base, {{name: "configs/a/catalog.yaml", content: "a2"}, {name: "configs/.wh.a"}}},
			map[string]string{"a/catalog.yaml": "a2", "b/catalog.yaml": "b1"}},
		{"what a whiteout removed comes back", [][]entry{base, {{name: "configs/.wh.b"}}, {{name: "configs/b/catalog.yaml", content: "b3"}}},
			map[string]string{"a/catalog.yaml": "a1", "b/catalog.yaml": "b3"}},
		{"an opaque directory hides the lower ones", [][]entry{base, {{name: "configs/c", content: "c"}, {name: "configs/.wh..wh..opq"}}}, map[string]string{"c": "c"}},
		{"an opaque directory hides its own only", [][]entry{base, {{name: "configs/a/.wh..wh..opq"}}}, onlyB},
		{"an opaque root hides all", [][]entry{base, {{name: ".wh..wh..opq"}, {name: "configs/c", content: "c"}}}, map[string]string{"c": "c"}},
		{"a whiteout of the directory", [][]entry{base, {{name: ".wh.configs"}}}, map[string]string{}},
		{"a whiteout of the directory that is there again", [][]entry{base, {{name: ".wh.configs"}, {name: "configs/c", content: "c"}}}, map[string]string{"c": "c"}},
		{"whiteouts outside have no effect", [][]entry{base, {{name: "bin/.wh.opm"}, {name: "bin/.wh..wh..opq"}, {name: ".wh.bin"}, {name: ".wh.config"}}}, both},
		{"metadata of AUFS has no effect", [][]entry{base, {{name: "configs/.wh..wh.plnk"}, {name: ".wh..wh.aufs"}}}, both},
		{"a file replaces a directory", [][]entry{base, {{name: "configs/a", content: "file"}}}, map[string]string{"a": "file", "b/catalog.yaml": "b1"}},
		{"a directory replaces a file", [][]entry{{{name: "configs/a", content: "file"}, {name: "configs/b/catalog.yaml", content: "b1"}}, {{name: "configs/a/"}}}, onlyB},
		{"a directory that replaces a file that replaces a directory", [][]entry{base, {{name: "configs/b", content: "file"}}, {{name: "configs/b/c", content: "c"}}},
			map[string]string{"a/catalog.yaml": "a1", "b/c": "c"}},
		{"links that are hidden", [][]entry{{{name: "configs", content: "data", kind: tar.TypeSymlink}}, {{name: "configs/b", content: "x", kind: tar.TypeSymlink}},
			append([]entry{{name: ".wh.configs"}}, base...)}, both},
		{"links outside", [][]entry{{{name: "etc", content: "configs", kind: tar.TypeSymlink}, {name: "etc/c", content: "x"}}, base}, both},
		{"a layer without anything", [][]entry{{}, base, {}}, both},
		{"a file whose name is like a whiteout", [][]entry{base, {{name: "configs/.whatever/c", content: "c"}, {name: "configs/.wh.b"}}},
			map[string]string{"a/catalog.yaml": "a1", ".whatever/c": "c"}},
		{"no such directory", [][]entry{{{name: "data/a", content: "a"}}}, map[string]string{}},
		{"a whiteout of what is not there", [][]entry{{{name: "configs/.wh.none"}}, {{name: "configs/a/catalog.yaml", content: "a1"}}}, onlyA},
	} {
		t.Run(test.name, func(t *testing.T) {
			var layers [][]byte
			for _, entries := range test.layers {
				layers = append(layers, zipped(layerOf(t, entries...)))
			}
			image, from := imageOf(v1.MediaTypeImageLayerGzip, layers...)
			got, err := unpacked(t.Context(), image, from, registry.UnpackLimits{})
			if err != nil || !maps.Equal(got, test.want) {
				t.Errorf("Unpack() = %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
}

func TestLayersOfEachMediaType(t *testing.T) {
	plain := layerOf(t, entry{name: "configs/a", content: "a"})
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for mediaType, layer := range map[string][]byte{
		v1.MediaTypeImageLayer:                                  plain,
		v1.MediaTypeImageLayerGzip:                              zipped(plain),
		v1.MediaTypeImageLayerZstd:                              encoder.EncodeAll(plain, nil),
		"application/vnd.docker.image.rootfs.diff.tar.gzip":     zipped(plain),
		"application/vnd.docker.image.rootfs.foreign.diff.tar":  nil,
		"application/vnd.oci.image.layer.v1.tar+gzip+encrypted": nil,
	} {
		t.Run(mediaType, func(t *testing.T) {
			known := layer != nil
			image, from := imageOf(mediaType, append(layer, 0)[:max(len(layer), 1)])
			got, err := unpacked(t.Context(), image, from, registry.UnpackLimits{})
			if known != (err == nil) || known != (got["a"] == "a") {
				t.Errorf("Unpack() = %q, %v", got, err)
			}
		})
	}
}

func TestHostileLayersAreRefused(t *testing.T) {
	file := entry{name: "configs/a", content: "a"}
	for _, test := range []struct {
		name    string
		entries []entry
		want    string
	}{
		{"a path that leads out", []entry{{name: "../configs/a"}}, `the path "../configs/a", which leads out`},
		{"a path that leads out and back", []entry{{name: "configs/../../configs/a"}}, "which leads out"},
		{"a directory that leads out", []entry{{name: "configs/../"}}, "which leads out"},
		{"a whiteout that leads out", []entry{{name: "configs/.wh..."}}, `the whiteout "configs/.wh...", which names no file`},
		{"a whiteout of the directory itself", []entry{{name: "configs/.wh.."}}, "which names no file"},
		{"a whiteout of nothing", []entry{{name: "configs/.wh."}}, "which names no file"},
		{"a symbolic link", []entry{{name: "configs/a", content: "/etc/passwd", kind: tar.TypeSymlink}}, `"configs/a" is a link`},
		{"a hard link", []entry{file, {name: "configs/b", content: "configs/a", kind: tar.TypeLink}}, `"configs/b" is a link`},
		{"a device", []entry{{name: "configs/a", kind: tar.TypeChar}}, `"configs/a" is a link, a device`},
		{"a link as the directory", []entry{{name: "configs", content: "/data", kind: tar.TypeSymlink}}, `"configs" is a link`},
		{"a file as the directory", []entry{{name: "configs", content: "x"}}, `"configs" is a file, not a directory`},
		{"a path that is too deep", []entry{{name: "configs/" + strings.Repeat("a/", 40) + "b"}}, "more than 32 elements"},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkRefused(t, test.entries, test.want)
		})
	}
}

func TestCostOfTooManyEntries(t *testing.T) {
	many := make([]entry, 100_001)
	for i := range many {
		many[i] = entry{name: fmt.Sprintf("configs/%d", i)}
	}
	deep := make([]entry, 5_000)
	for i := range deep {
		deep[i] = entry{name: fmt.Sprintf("configs/%d/%sb", i, strings.Repeat("a/", 25))}
	}
	for name, entries := range map[string][]entry{"files": many, "directories above files": deep} {
		t.Run(name, func(t *testing.T) { checkRefused(t, entries, "more than 100000 entries") })
	}
}

// checkRefused checks that a layer of the entries is refused, with an error that contains want.
func checkRefused(t *testing.T, entries []entry, want string) {
	t.Helper()
	image, from := imageOf(v1.MediaTypeImageLayerGzip, zipped(layerOf(t, entries...)))
	_, err := unpacked(t.Context(), image, from, registry.UnpackLimits{})
	var refused *registry.ImageError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
		t.Errorf("Unpack() = %v\nwant %s", err, want)
	}
}

// bomb returns a layer with a file of 2 GB: frames of zstd, one after another, are one stream.
func bomb(t *testing.T, name string) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	const size, frame = 2 << 30, 4 << 20
	var header bytes.Buffer
	if err := tar.NewWriter(&header).WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}); err != nil {
		t.Fatal(err)
	}
	zeros := encoder.EncodeAll(make([]byte, frame), nil)
	return append(encoder.EncodeAll(header.Bytes(), nil), bytes.Repeat(zeros, size/frame)...)
}

func TestBoundsOfLayers(t *testing.T) {
	inside, outside := bomb(t, "configs/a"), bomb(t, "var/a")
	good := zipped(layerOf(t, entry{name: "configs/a", content: "a"}))
	wide := make([][]byte, 3)
	for i := range wide {
		wide[i] = zipped(layerOf(t, entry{name: "configs/a", content: strings.Repeat("x", 40)}, entry{name: fmt.Sprint(i)}))
	}
	for _, test := range []struct {
		name, mediaType string
		layers          [][]byte
		limits          registry.UnpackLimits
		want            string
	}{
		{"2 GB in the directory", v1.MediaTypeImageLayerZstd, [][]byte{inside}, registry.UnpackLimits{}, "more than 268435456 bytes in the directory"},
		{"a bomb outside", v1.MediaTypeImageLayerZstd, [][]byte{outside}, registry.UnpackLimits{Uncompressed: 60 << 20}, "more than 62914560 uncompressed bytes"},
		{"the sum of the layers", v1.MediaTypeImageLayerGzip, [][]byte{good, good}, registry.UnpackLimits{Uncompressed: 4000}, "more than 4000 uncompressed bytes"},
		{"compressed bytes", v1.MediaTypeImageLayerGzip, [][]byte{good, good}, registry.UnpackLimits{Compressed: int64(len(good)) + 1}, "its layers have more than"},
		{"a large layer", v1.MediaTypeImageLayerGzip, [][]byte{good}, registry.UnpackLimits{Compressed: 10}, "at most 10 bytes"},
		{"files of several layers", v1.MediaTypeImageLayerGzip, wide, registry.UnpackLimits{Files: 39}, "more than 39 bytes in the directory"},
		{"files that are hidden are none", v1.MediaTypeImageLayerGzip, wide, registry.UnpackLimits{Files: 40}, ""},
		{"at all limits", v1.MediaTypeImageLayerGzip, [][]byte{good}, registry.UnpackLimits{Compressed: int64(len(good)), Uncompressed: 2048, Files: 1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			image, from := imageOf(test.mediaType, test.layers...)
			err := image.Unpack(t.Context(), from, "configs", io.Discard, test.limits)
			var refused *registry.ImageError
			if (test.want != "") != errors.As(err, &refused) || test.want == "" && err != nil || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("Unpack() = %v\nwant %s", err, test.want)
			}
		})
	}
}

// What is wrong with the bytes that arrive is an error of the transfer, not of the image.
func TestErrorsOfTheTransfer(t *testing.T) {
	good := zipped(layerOf(t, entry{name: "configs/a", content: strings.Repeat("a", 10_000)}))
	altered := bytes.Clone(good)
	altered[len(altered)/2] ^= 1
	broken := errors.New("connection reset")
	for _, test := range []struct {
		name string
		body io.Reader
		want error
	}{
		{"other bytes", bytes.NewReader(altered), content.ErrMismatchedDigest},
		{"another layer", bytes.NewReader(zipped(layerOf(t, entry{name: "configs", content: "x"}))[:len(good)-1]), io.ErrUnexpectedEOF},
		{"half of the bytes", bytes.NewReader(good[:len(good)/2]), io.ErrUnexpectedEOF},
		{"more bytes", bytes.NewReader(append(bytes.Clone(good), 0)), content.ErrTrailingData},
		{"a broken connection", io.MultiReader(bytes.NewReader(good[:20]), iotest.ErrReader(broken)), broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			image, _ := imageOf(v1.MediaTypeImageLayerGzip, good)
			err := image.Unpack(t.Context(), body{test.body}, "configs", io.Discard, registry.UnpackLimits{})
			var refused *registry.ImageError
			if !errors.Is(err, test.want) || errors.As(err, &refused) {
				t.Errorf("Unpack() = %v, want %v", err, test.want)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	image, from := imageOf(v1.MediaTypeImageLayerGzip, good)
	if err := image.Unpack(ended, from, "configs", io.Discard, registry.UnpackLimits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	if err := image.Unpack(t.Context(), from, "configs", full{}, registry.UnpackLimits{}); !errors.Is(err, errFull) {
		t.Errorf("on a full disk: %v", err)
	}
}

type body struct{ io.Reader }

func (b body) Fetch(context.Context, v1.Descriptor) (io.ReadCloser, error) {
	return io.NopCloser(b.Reader), nil
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
