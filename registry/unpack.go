// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
)

// UnpackLimits bound what an image may cost, in bytes. A field that is not positive means its default.
type UnpackLimits struct {
	// Compressed bytes of all layers, and Uncompressed bytes, with everything outside of the directory.
	Compressed, Uncompressed int64
	// Files is the bytes of all files in the directory, in each layer.
	Files int64
}

// The default limits. The largest known catalogs of operators have 120 MB of files, in images of 1 GB that hold a
// server and its cache as well.
const (
	defaultCompressed   = 1 << 30
	defaultUncompressed = 4 << 30
	defaultFiles        = 256 << 20
)

// maxWindow bounds the memory for decompressing a layer of zstd, whose header names it.
const maxWindow = 64 << 20

// Unpack writes the files of a directory, a path without slashes around it, as tar.gz, with paths that are relative
// to it. It applies the layers in their order, with what higher ones replace and remove, and follows no links: in the
// directory, they are refused. It reads the layers once, from the highest to the lowest, and keeps none of them. The
// files are not sorted, and one that a layer has twice is written twice. The error is an *ImageError or a
// *TooLargeError for an image that cannot be, and then, as with all errors, what was written is of no use.
func (i Image) Unpack(ctx context.Context, from content.Fetcher, directory string, w io.Writer, limits UnpackLimits) error {
	if directory == "." || !fs.ValidPath(directory) {
		return refuse("%.128q is not the path of a directory", directory)
	}
	compressor, err := gzip.NewWriterLevel(writer{w}, gzip.BestSpeed)
	if err != nil {
		return err
	}
	u := &unpacking{
		from: from, out: tar.NewWriter(compressor), overlay: newOverlay(directory), buffer: make([]byte, 32<<10),
		compressed: cmp.Or(max(limits.Compressed, 0), defaultCompressed),
		plain:      bounded{what: "uncompressed bytes in all layers", max: cmp.Or(max(limits.Uncompressed, 0), defaultUncompressed)},
		files:      bounded{what: "bytes in the directory of the catalog", max: cmp.Or(max(limits.Files, 0), defaultFiles)},
	}
	if err := u.check(i.Layers); err != nil {
		return err
	}
	for _, layer := range slices.Backward(i.Layers) {
		if err := u.layer(ctx, layer); err != nil {
			return fmt.Errorf("the layer %s: %w", layer.Digest, err)
		}
	}
	if err := u.out.Close(); err != nil {
		return err
	}
	return compressor.Close()
}

// bounded counts bytes up to a limit.
type bounded struct {
	what      string
	used, max int64
}

func (b *bounded) add(n int64) error {
	if b.used += n; b.used > b.max || n < 0 {
		return refuse("it has more than %d %s", b.max, b.what)
	}
	return nil
}

// unpacking is the state of Unpack.
type unpacking struct {
	from         content.Fetcher
	out          *tar.Writer
	overlay      *overlay
	compressed   int64
	plain, files bounded
	// buffer for copying files; there may be many.
	buffer []byte
}

// check refuses layers that cannot be fetched, before any is.
func (u *unpacking) check(layers []v1.Descriptor) error {
	sum := int64(0)
	for _, layer := range layers {
		if layer.Digest.Validate() != nil || layer.Size <= 0 || layer.Size > u.compressed {
			return refuse("its layer has the digest %.128q and %d bytes: want a digest, and at most %d bytes", layer.Digest, layer.Size, u.compressed)
		}
		if _, err := decompressorOf(layer.MediaType); err != nil {
			return err
		}
		if sum += layer.Size; sum > u.compressed {
			return refuse("its layers have more than %d bytes", u.compressed)
		}
	}
	return nil
}

// layer writes the visible files of a layer. Bytes that do not match the digest are reported as that, whatever else is
// wrong with them.
func (u *unpacking) layer(ctx context.Context, layer v1.Descriptor) (err error) {
	body, err := u.from.Fetch(ctx, layer)
	if err != nil {
		return err
	}
	defer body.Close()
	verified := content.NewVerifyReader(body, layer)
	in := &received{ctx: ctx, r: verified}
	err = u.decompress(in, layer.MediaType)
	if in.err != nil {
		return in.err
	}
	if _, drained := io.Copy(io.Discard, in); drained != nil {
		return drained
	}
	if altered := verified.Verify(); altered != nil {
		return altered
	}
	return err
}

// received is the body of a layer. It keeps the error of the registry, which is none of the content.
type received struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (r *received) Read(p []byte) (int, error) {
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// decompress reads a compressed layer to its end.
func (u *unpacking) decompress(in io.Reader, mediaType string) error {
	open, err := decompressorOf(mediaType)
	if err != nil {
		return err
	}
	plain, err := open(in)
	if err != nil {
		return refuse("it cannot be decompressed: %v", err)
	}
	defer plain.Close()
	counted := &counting{r: plain, counted: &u.plain}
	if err := u.entries(tar.NewReader(counted)); err != nil {
		return malformed(err)
	}
	u.overlay.end()
	_, err = io.Copy(io.Discard, counted)
	return malformed(err)
}

// malformed returns the *ImageError for an error of the content.
func malformed(err error) error {
	_, own := errors.AsType[*ImageError](err)
	_, writing := errors.AsType[*writeError](err)
	if err == nil || own || writing {
		return err
	}
	return refuse("it cannot be read: %v", err)
}

// counting counts the bytes of a reader.
type counting struct {
	r       io.Reader
	counted *bounded
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if over := c.counted.add(int64(n)); over != nil {
		return 0, over
	}
	return n, err
}

func (u *unpacking) entries(in *tar.Reader) error {
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := u.overlay.add(header)
		if err == nil && name != "" {
			err = u.write(name, header.Size, in)
		}
		if err != nil {
			return err
		}
	}
}

// writeError is an error of the writer that Unpack was given.
type writeError struct{ err error }

func (e *writeError) Error() string { return "writing the files: " + e.err.Error() }

func (e *writeError) Unwrap() error { return e.err }

func (u *unpacking) write(name string, size int64, in io.Reader) error {
	if err := u.files.add(size); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := u.out.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.CopyBuffer(struct{ io.Writer }{u.out}, in, u.buffer)
	return err
}

// writer marks the errors of a writer.
type writer struct{ w io.Writer }

func (w writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

// decompressorOf returns what reads the layers of a media type.
func decompressorOf(mediaType string) (func(io.Reader) (io.ReadCloser, error), error) {
	switch mediaType {
	case v1.MediaTypeImageLayer, "application/vnd.docker.image.rootfs.diff.tar":
		return func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }, nil
	case v1.MediaTypeImageLayerGzip, "application/vnd.docker.image.rootfs.diff.tar.gzip":
		return func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }, nil
	case v1.MediaTypeImageLayerZstd:
		return func(r io.Reader) (io.ReadCloser, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		}, nil
	}
	return nil, refuse("its layer has the media type %.128q: want a tar, or one that is compressed by gzip or zstd", mediaType)
}
