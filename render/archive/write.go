// SPDX-License-Identifier: Apache-2.0

// Package archive turns a tree into a tar.gz, the same bytes on every run, and
// a tar.gz or a directory into a tree, bounded and proof against hostile
// content.
//
// It must not know what the files mean, where an archive comes from, or where
// it goes.
package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/winnow-dev/winnow/render/tree"
)

// Write writes the tree as tar.gz. The bytes depend on the tree's paths and
// contents alone: files sorted by path, no directories, mode 0644, owner 0
// without names, times zero (1970), a gzip header without name and time. The
// format is USTAR, and PAX only for a path that USTAR cannot hold. Another
// release of the compressor may compress differently, which is why a revision
// comes from tree.Tree.Digest and not from these bytes.
//
// An error is w's own, wrapped.
func Write(w io.Writer, t *tree.Tree) error { return writeGzip(w, t, false) }

// WriteWithDirectories is Write with an entry for each directory, mode 0755, in
// front of its first file: ORAS unpacks a file only into a directory that an
// entry has created.
func WriteWithDirectories(w io.Writer, t *tree.Tree) error { return writeGzip(w, t, true) }

// compressors are reused: each has tables of a megabyte.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func writeGzip(w io.Writer, t *tree.Tree, directories bool) error {
	compressor := compressors.Get().(*gzip.Writer)
	defer func() {
		compressor.Reset(nil) // or it would keep w
		compressors.Put(compressor)
	}()
	compressor.Reset(w)
	compressor.ModTime = time.Unix(0, 0) // the zero time is written as one in 2042
	if err := writeTar(compressor, t, directories); err != nil {
		return fmt.Errorf("writing archive: %w", err)
	}
	if err := compressor.Close(); err != nil {
		return fmt.Errorf("writing archive: %w", err)
	}
	return nil
}

func writeTar(w io.Writer, t *tree.Tree, directories bool) error {
	out := tar.NewWriter(w)
	written := map[string]bool{}
	for _, path := range t.Paths() {
		if directories {
			if err := writeDirectories(out, path, written); err != nil {
				return err
			}
		}
		content, _ := t.Content(path)
		header := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     path,
			Size:     int64(len(content)),
			Mode:     0o644,
			ModTime:  time.Unix(0, 0),
		}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(content); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeDirectories writes the directories above a path that are not written yet.
func writeDirectories(out *tar.Writer, path string, written map[string]bool) error {
	for i, c := range path {
		if c != '/' || written[path[:i]] {
			continue
		}
		written[path[:i]] = true
		header := &tar.Header{Typeflag: tar.TypeDir, Name: path[:i+1], Mode: 0o755, ModTime: time.Unix(0, 0)}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
	}
	return nil
}
