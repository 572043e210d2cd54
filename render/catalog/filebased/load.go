// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/catalog/filebased/split"
	"github.com/winnow-dev/winnow/render/parallel"
)

// Load reads the catalog at the root of fsys. The error is an *InvalidError when the content is wrong, with
// every violation up to a bound. Other errors are the file system's or the context's. The result depends on
// nothing but the content of fsys, whose bytes it keeps.
func Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	l := loader{left: split.MaxDocuments, unread: map[string]bool{}}
	if err := l.load(ctx, fsys); err != nil {
		return nil, fmt.Errorf("loading file-based catalog: %w", err)
	}
	if l.hidden {
		return nil, l.report.err()
	}
	loaded := assemble(l.blobs, l.unread, &l.report)
	if err := l.report.err(); err != nil {
		return nil, err
	}
	for _, one := range loaded.Packages {
		one.intern()
	}
	return loaded, nil
}

// loader reads the blobs of a catalog.
type loader struct {
	report report
	blobs  []*Blob
	// waiting are documents that are not read yet.
	waiting []split.Document
	// left is the number of documents that there may be more.
	left int
	// unread are the packages with documents whose content has problems; hidden reports whether there are documents
	// whose package is not even known. What is wrong with the graph of such packages is not of interest yet.
	unread map[string]bool
	hidden bool
	// kept counts what stays in memory besides the bytes. Goroutines share it.
	kept atomic.Int64
}

func (l *loader) load(ctx context.Context, fsys fs.FS) error {
	files, err := paths(ctx, fsys, &l.report)
	if err != nil {
		return err
	}
	l.hidden = l.report.total > 0
	size := 0
	for _, name := range files {
		before := l.report.total
		data, err := readFile(fsys, name, MaxFile, &l.report)
		if err != nil {
			return err
		}
		l.hidden = l.hidden || l.report.total > before
		if size += len(data); size > maxCatalog {
			l.report.file(".", "has more than %d bytes in all files together", maxCatalog)
			l.hidden = true
			return nil
		}
		if !l.file(name, data) {
			return nil
		}
		if len(l.waiting) >= atOnce {
			if err := l.read(ctx); err != nil {
				return err
			}
		}
	}
	if err := l.read(ctx); err != nil {
		return err
	}
	if l.kept.Load() > maxKept {
		l.report.file(".", "has more than %d entries, skipped names, deprecations, APIs and dependencies in all documents together", maxKept)
		l.hidden = true
	}
	return nil
}

// file cuts a file into documents, and reports whether there may be more.
func (l *loader) file(name string, data []byte) bool {
	found, failed := split.Documents(data, l.left)
	if failed != nil {
		l.report.add(name, failed.Number, failed.Line, failed.Message)
		l.hidden = true
	}
	if l.left -= len(found); l.left < 0 {
		return false
	}
	for _, one := range found {
		one.Path = name
		l.waiting = append(l.waiting, one)
	}
	return true
}

// atOnce is the number of documents that are read before their problems are reported.
const atOnce = 1000

// read reads the documents that wait, on all cores.
func (l *loader) read(ctx context.Context) error {
	for some := range slices.Chunk(l.waiting, atOnce) {
		blobs, problems := make([]*Blob, len(some)), make([][]shape.Problem, len(some))
		err := parallel.For(ctx, len(some), func(i int) {
			blob, found := readBlob(some[i])
			blobs[i], problems[i] = blob, slices.Clone(found[:min(len(found), maxFileViolations)]) // the others take memory
			if l.kept.Add(blobs[i].kept()) > maxKept {
				blobs[i].content = nil
			}
		})
		if err != nil {
			return err
		}
		for i, blob := range blobs {
			l.report.blob(blob, problems[i])
			if len(problems[i]) > 0 {
				l.markUnread(blob)
			}
		}
		l.blobs = append(l.blobs, blobs...)
	}
	l.waiting = l.waiting[:0]
	return nil
}

func (l *loader) markUnread(blob *Blob) {
	name := blob.of()
	if name == "" {
		l.hidden = true
		return
	}
	l.unread[name] = true
}
