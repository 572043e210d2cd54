package filebased

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Catalog is a valid catalog. It is shared: nothing may change it.
type Catalog struct {
	// Packages sorted by name.
	Packages []*Package
	// Others are the blobs of no package of the catalog, in the order of the files and in them.
	Others []*Blob
}

// Package is what a catalog has of a package.
type Package struct {
	Name, DefaultChannel string
	// Channels sorted by name.
	Channels []*Channel
	// Bundles from the highest version to the lowest.
	Bundles []*Bundle
	// Deprecations in the order of the catalog.
	Deprecations []Deprecation
	// Blobs in the order of the files, and in them: those of the above, and those whose schema is not known.
	Blobs []*Blob

	blob, deprecations *Blob
}

// Channel is a graph of upgrades.
type Channel struct {
	Name string
	// Entries in the order of the catalog. The names that they replace and skip may be those of no bundle.
	Entries []Entry
	Blob    *Blob
}

// Package returns the package with a name; nil without one.
func (c *Catalog) Package(name string) *Package {
	i, found := slices.BinarySearchFunc(c.Packages, name, func(p *Package, name string) int { return cmp.Compare(p.Name, name) })
	if !found {
		return nil
	}
	return c.Packages[i]
}

// Load reads the catalog at the root of fsys. The error is an *InvalidError when the content is wrong, with
// every violation up to a bound. Other errors are the file system's or the context's. The result depends on
// nothing but the content of fsys, whose bytes it keeps.
func Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	l := loader{left: maxDocuments}
	blobs, err := l.load(ctx, fsys)
	if err != nil {
		return nil, fmt.Errorf("loading file-based catalog: %w", err)
	}
	if l.hidden {
		return nil, l.report.err()
	}
	loaded := assemble(blobs, l.unread, &l.report)
	if err := l.report.err(); err != nil {
		return nil, err
	}
	return loaded, nil
}

// loader reads the blobs of a catalog.
type loader struct {
	report report
	// left is the number of documents that there may be more.
	left int
	// unread are the packages with documents whose content has problems; hidden says that there are documents of
	// which not even the package is known. What is wrong with the graph of such packages is not of interest yet.
	unread map[string]bool
	hidden bool
	// kept counts what stays in memory besides the bytes. Goroutines share it.
	kept atomic.Int64
}

func (l *loader) load(ctx context.Context, fsys fs.FS) ([]*Blob, error) {
	files, err := paths(ctx, fsys, &l.report)
	if err != nil {
		return nil, err
	}
	l.hidden = l.report.total > 0
	var blobs []*Blob
	size := 0
	for _, name := range files {
		if l.left < 0 {
			break
		}
		before := l.report.total
		data, err := readFile(fsys, name, maxFile, &l.report)
		if err != nil {
			return nil, err
		}
		l.hidden = l.hidden || l.report.total > before
		if size += len(data); size > maxCatalog {
			l.report.file(".", "has more than %d bytes in all files together", maxCatalog)
			l.hidden = true
			return blobs, nil
		}
		read, err := l.file(ctx, name, data)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, read...)
	}
	if l.kept.Load() > maxKept {
		l.report.file(".", "has more than %d entries, skipped names, deprecations and properties in all documents together", maxKept)
		l.hidden = true
	}
	return blobs, nil
}

// file reads the documents of a file.
func (l *loader) file(ctx context.Context, name string, data []byte) ([]*Blob, error) {
	found, failed := documents(data, l.left)
	if failed != nil {
		l.report.add(Violation{Path: name, Document: failed.number, Line: failed.line, Message: failed.message})
		l.hidden = true
	}
	if l.left -= len(found); l.left < 0 {
		return nil, nil
	}
	blobs := make([]*Blob, 0, len(found))
	for some := range slices.Chunk(found, atOnce) {
		read, err := l.documents(ctx, name, some)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, read...)
	}
	return blobs, nil
}

// atOnce is the number of documents that are read before their problems are reported.
const atOnce = 1000

// documents reads documents on all cores.
func (l *loader) documents(ctx context.Context, name string, found []document) ([]*Blob, error) {
	blobs, problems := make([]*Blob, len(found)), make([][]problem, len(found))
	err := parallel(ctx, len(found), func(i int) {
		blobs[i], problems[i] = readBlob(name, found[i])
		if l.kept.Add(blobs[i].kept()) > maxKept {
			blobs[i].content = nil
		}
	})
	if err != nil {
		return nil, err
	}
	for i, blob := range blobs {
		l.report.blob(blob, problems[i])
		if len(problems[i]) > 0 {
			l.markUnread(blob)
		}
	}
	return blobs, nil
}

func (l *loader) markUnread(blob *Blob) {
	name := blob.Package
	if blob.Schema == SchemaPackage {
		name = blob.Name
	}
	if name == "" {
		l.hidden = true
		return
	}
	if l.unread == nil {
		l.unread = map[string]bool{}
	}
	l.unread[name] = true
}

// parallel calls do for every index below n on as many goroutines as Go may run at once. It stops early when the
// context ends, and returns its error.
func parallel(ctx context.Context, n int, do func(int)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}
