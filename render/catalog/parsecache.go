// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"bytes"
	"crypto/sha256"
	"path"
	"sync"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// ParseCache has the files of a catalog that were parsed before it is loaded: files of another revision of it, and files that were
// parsed while others were still read. A file with the same bytes at the same path is not parsed again. What loading returns does
// not depend on it. It is safe for concurrent use.
type ParseCache struct {
	mu          sync.Mutex
	definitions map[documentStart]parsedDefinition
	metadata    map[string]*metadataFile
	// preparsed is the number of documents that a Preparser has parsed.
	preparsed int64
}

// parsedDefinition is a definition without a violation.
type parsedDefinition struct {
	application *Application
	files       parsedFiles
}

// documentStart is where the document of a definition begins.
type documentStart struct {
	path  string
	above int
}

// metadataFile is a metadata.yaml without a violation.
type metadataFile struct {
	sum     [sha256.Size]byte
	content metadata.Metadata
	size    yamlnode.Extent
}

// NewParseCache returns a cache with the files of another revision, nil for none.
func NewParseCache(before *Catalog) *ParseCache {
	c := &ParseCache{definitions: map[documentStart]parsedDefinition{}, metadata: map[string]*metadataFile{}}
	if before == nil {
		return c
	}
	for i, of := range before.files {
		a := before.Applications[i]
		c.definitions[documentStart{a.Path, a.Above}] = parsedDefinition{a, of}
		if of.metadata != nil {
			c.metadata[path.Join(path.Dir(a.Path), MetadataFile)] = of.metadata
		}
	}
	return c
}

// definition returns the definition with these bytes at the place of an application, and reports whether there is one.
func (c *ParseCache) definition(data []byte, at *Application) (parsedDefinition, bool) {
	c.mu.Lock()
	known, ok := c.definitions[documentStart{at.Path, at.Above}]
	c.mu.Unlock()
	return known, ok && bytes.Equal(known.application.Document, data)
}

// has reports whether the cache has a file of one document.
func (c *ParseCache) has(file string, data []byte) bool {
	_, ok := c.definition(data, &Application{Path: file})
	return ok || c.metadataFile(data, file) != nil
}

// metadataFile returns the file with these bytes at a path; nil if there is none.
func (c *ParseCache) metadataFile(data []byte, file string) *metadataFile {
	c.mu.Lock()
	known := c.metadata[file]
	c.mu.Unlock()
	if known != nil && known.sum == sha256.Sum256(data) {
		return known
	}
	return nil
}

func (c *ParseCache) addDefinition(known parsedDefinition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.definitions[documentStart{known.application.Path, known.application.Above}] = known
}

// clear removes all files.
func (c *ParseCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.definitions)
	clear(c.metadata)
}

func (c *ParseCache) addMetadata(file string, known *metadataFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metadata[file] = known
}
