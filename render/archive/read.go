// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/render/tree"
)

const (
	// blockSize is the unit of tar; two blocks of zeros end an archive.
	blockSize = 512
	endSize   = 2 * blockSize
	// chunkSize bounds what Read allocates before it has read the content: the
	// size in a header is untrusted.
	chunkSize = 64 << 10
)

// Read reads a tar.gz to its end and returns its regular files.
//
// Directories are allowed and leave no trace, "./" before a path is dropped
// (tar -C DIR . writes it), and PAX global headers (git archive writes one) are
// skipped. Everything else is refused by name: links, devices, pipes, sparse
// files, unknown types, unsafe paths (tree.CheckPath), a file that is there
// twice or is a directory as well. So are a stream that is truncated, lacks the
// two blocks that end an archive, or goes on behind them. Gzip may have several
// members. Modes, owners and times are ignored.
//
// Reading ends at the first refused entry. The error is an *Error for invalid content, and
// otherwise wraps the error of r or ctx. It checks ctx between reads. Memory is bounded by
// limits.Total for the contents and by limits.Files for the rest, whatever the headers claim.
func Read(ctx context.Context, r io.Reader, limits Limits) (*tree.Tree, error) {
	return ReadSome(ctx, r, limits, nil, nil)
}

// ReadSome is Read without the contents of skipped files: these are in the tree, but empty. They are
// checked like the others, and count for all limits. It calls read, which may be nil, with each file that
// is not skipped, as soon as it is read: what follows in the archive may still be refused.
func ReadSome(
	ctx context.Context, r io.Reader, limits Limits, skip Skip, read func(path string, content []byte),
) (*tree.Tree, error) {
	limits = limits.withDefaults()
	in := &source{ctx: ctx, r: r, left: limits.Compressed, max: limits.Compressed}
	plain := bufio.NewReaderSize(&members{r: bufio.NewReaderSize(in, sourceBuffer)}, streamBuffer)
	a := &reader{
		collector: collector{limits: limits, skip: skip, tree: tree.New(), dirs: map[string]struct{}{}},
		stream:    &stream{ctx: ctx, r: plain, max: limits.Total},
		read:      read,
	}
	if err := a.readAll(); err != nil {
		return nil, in.failure(err)
	}
	return a.tree, nil
}

// reader reads the entries of a tar stream into a collector.
type reader struct {
	collector
	stream *stream
	tar    *tar.Reader
	read   func(path string, content []byte)
}

func (a *reader) readAll() error {
	a.tar = tar.NewReader(a.stream)
	for {
		end := a.stream.pos
		header, err := a.tar.Next()
		if errors.Is(err, io.EOF) {
			return a.finish(end)
		}
		if err != nil {
			return err
		}
		if err := a.entry(header); err != nil {
			return err
		}
	}
}

// finish checks that the archive ends where the last entry does, padded to a
// block. The tar reader does not: it accepts a stream that was cut between two
// entries and lacks the applications after the cut.
func (a *reader) finish(end int64) error {
	if a.stream.pos != padded(end)+endSize || a.stream.zeros < endSize {
		return refuse("", "truncated: no end of archive")
	}
	return a.stream.drain()
}

func (a *reader) entry(header *tar.Header) error {
	if err := a.count(header.Name); err != nil {
		return err
	}
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if reason := refusedType(header); reason != "" {
		return refuse(header.Name, reason)
	}
	path := strings.TrimPrefix(header.Name, "./")
	if header.Typeflag == tar.TypeDir {
		return a.addDir(header.Name, path)
	}
	if err := a.checkPath(header.Name, path); err != nil {
		return err
	}
	if header.Size > a.limits.File {
		return exceed(header.Name, "bytes of the file", a.limits.File)
	}
	if a.skips(path, header.Size) {
		if _, err := io.Copy(io.Discard, a.tar); err != nil {
			return err
		}
		return a.addFile(header.Name, path, nil)
	}
	content, err := readContent(a.tar, header.Size)
	if err != nil {
		return err
	}
	if err := a.addFile(header.Name, path, content); err != nil {
		return err
	}
	if a.read != nil {
		a.read(path, content)
	}
	return nil
}

// refusedType returns why an entry is neither a file nor a directory, or "".
func refusedType(header *tar.Header) string {
	switch header.Typeflag {
	case tar.TypeReg:
		return sparse(header)
	case tar.TypeDir:
		return ""
	}
	reason := map[byte]string{
		tar.TypeSymlink:   linkRefused,
		tar.TypeLink:      "hard link is not allowed",
		tar.TypeChar:      "character device is not allowed",
		tar.TypeBlock:     "block device is not allowed",
		tar.TypeFifo:      "named pipe is not allowed",
		tar.TypeGNUSparse: "sparse file is not allowed",
	}[header.Typeflag]
	return cmp.Or(reason, fmt.Sprintf("entry of type %q is not allowed", header.Typeflag))
}

const linkRefused = "symbolic link is not allowed: Flux drops links, so store the file itself, or leave it out by include"

// sparse finds the sparse files that have the type of a regular one: a few
// bytes that expand to any size.
func sparse(header *tar.Header) string {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return "sparse file is not allowed"
		}
	}
	return ""
}

// readContent reads size bytes, allocating as they come: a header may claim
// what the stream does not have.
func readContent(r io.Reader, size int64) ([]byte, error) {
	content := make([]byte, min(size, chunkSize))
	read := 0
	for {
		n, err := io.ReadFull(r, content[read:])
		read += n
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || int64(read) == size {
			return content, err
		}
		grown := make([]byte, min(size, 2*int64(len(content))))
		copy(grown, content)
		content = grown
	}
}

// padded rounds up to whole blocks.
func padded(size int64) int64 {
	return (size + blockSize - 1) / blockSize * blockSize
}
