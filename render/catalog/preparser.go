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

// maxQueued bounds the files that wait to be parsed. Loading parses those that find no room.
const maxQueued = 1 << 12

// Preparser parses files of the format Applications on all cores while others are still read, and adds those without a violation
// to the cache. What it keeps is bounded as what a catalog keeps. A nil one does nothing.
type Preparser struct {
	cache   *ParseCache
	files   chan queuedFile
	workers sync.WaitGroup
	// loader counts what is kept.
	loader  loader
	stopped atomic.Bool
}

type queuedFile struct {
	path string
	data []byte
}

// NewPreparser returns a Preparser for files of a format, nil if the content decides. It is nil where it could not help. The caller
// must call Wait.
func NewPreparser(ctx context.Context, format Format, cache *ParseCache) *Preparser {
	if format != nil && format != (Applications{}) {
		return nil
	}
	p := &Preparser{cache: cache, files: make(chan queuedFile, maxQueued), loader: loader{cache: cache}}
	for range runtime.GOMAXPROCS(0) {
		p.workers.Go(func() {
			for file := range p.files {
				if ctx.Err() == nil && !p.stopped.Load() && !p.parse(file) {
					p.stopped.Store(true) // loading reports why
				}
			}
		})
	}
	return p
}

// Add adds a file that was read, by its path in the catalog.
func (p *Preparser) Add(file string, data []byte) {
	if p == nil || !(Applications{}).Needs(file) || p.cache.has(file, data) {
		return
	}
	select {
	case p.files <- queuedFile{file, data}:
	default:
	}
}

// Wait returns once no file is parsed any more. No file may be added then.
func (p *Preparser) Wait() {
	if p == nil {
		return
	}
	close(p.files)
	p.workers.Wait()
	p.cache.preparsed = p.loader.ledger.parsed.Load()
	if p.loader.ledger.kept.Load() > maxKept {
		p.cache.clear() // loading counts again, and keeps less
	}
}

// parse reports whether a file has no violation, and is within the bounds.
func (p *Preparser) parse(file queuedFile) (ok bool) {
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
		if files := p.loader.read(file.data, application, &found); len(found.Kept) == 0 {
			p.cache.addDefinition(parsedDefinition{application, files})
		}
	case MetadataFile:
		if path.Dir(path.Dir(file.path)) == ListsDirectory {
			return true
		}
		if len(file.data) > maxMetadata {
			return false
		}
		if read := p.loader.readMetadata(file.data, &found); read != nil && len(found.Kept) == 0 {
			p.cache.addMetadata(file.path, read)
		}
	}
	return len(found.Kept) == 0 && p.loader.ledger.kept.Load() <= maxKept
}
