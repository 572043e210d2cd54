// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/parallel"
)

// maxAhead bounds the files that wait to be parsed. Loading parses those that find no room.
const maxAhead = 1 << 12

// Ahead parses files of the format Applications on all cores while others are still read, and adds those without a violation
// to what is known. What it keeps is bounded as what a catalog keeps. A nil one does nothing.
type Ahead struct {
	known   *Known
	files   chan aheadFile
	workers sync.WaitGroup
	// loader counts what is kept.
	loader  loader
	stopped atomic.Bool
}

type aheadFile struct {
	path string
	data []byte
}

// NewAhead returns an Ahead for files of a format, nil if the content decides. It is nil where it could not help. The caller
// must call Wait.
func NewAhead(ctx context.Context, format Format, known *Known) *Ahead {
	if format != nil && format != (Applications{}) {
		return nil
	}
	a := &Ahead{known: known, files: make(chan aheadFile, maxAhead), loader: loader{known: known}}
	for range runtime.GOMAXPROCS(0) {
		a.workers.Go(func() {
			for file := range a.files {
				if ctx.Err() == nil && !a.stopped.Load() && !a.parse(file) {
					a.stopped.Store(true) // loading reports why
				}
			}
		})
	}
	return a
}

// Add adds a file that was read, by its path in the catalog.
func (a *Ahead) Add(file string, data []byte) {
	if a == nil || !(Applications{}).Needs(file) || a.known.knows(file, data) {
		return
	}
	select {
	case a.files <- aheadFile{file, data}:
	default:
	}
}

// Wait returns once no file is parsed any more. No file may be added then.
func (a *Ahead) Wait() {
	if a == nil {
		return
	}
	close(a.files)
	a.workers.Wait()
	a.known.ahead = a.loader.ledger.parsed.Load()
	if a.loader.ledger.kept.Load() > maxKept {
		a.known.forget() // loading counts again, and keeps less
	}
}

// parse reports whether a file has no violation, and is within the bounds.
func (a *Ahead) parse(file aheadFile) (ok bool) {
	var failed error
	defer func() { ok = ok && failed == nil }()
	defer parallel.Recover(&failed)
	found := violation.Findings{Path: file.path}
	switch path.Base(file.path) {
	case ApplicationFile:
		application := &Application{Path: file.path}
		if len(file.data) > maxDocument {
			return false
		}
		if learned := a.loader.read(file.data, application, &found); len(found.Kept) == 0 {
			a.known.addDefinition(knownDefinition{application, learned})
		}
	case MetadataFile:
		if path.Dir(path.Dir(file.path)) == ListsDirectory {
			return true
		}
		if len(file.data) > maxMetadata {
			return false
		}
		if read := a.loader.readMetadata(file.data, &found); read != nil && len(found.Kept) == 0 {
			a.known.addMetadata(file.path, read)
		}
	}
	return len(found.Kept) == 0 && a.loader.ledger.kept.Load() <= maxKept
}
