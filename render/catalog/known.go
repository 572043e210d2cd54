// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"bytes"
	"crypto/sha256"
	"path"
	"sync"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

// Known has what is known of files before their catalog is loaded: from another revision of it, or because they were parsed
// while others were still read. A file with the same bytes at the same path is not parsed again. What loading returns does
// not depend on it. It is safe for concurrent use.
type Known struct {
	mu          sync.Mutex
	definitions map[place]knownDefinition
	metadata    map[string]*metadataFile
	// ahead is the number of documents that an Ahead has parsed.
	ahead int64
}

// knownDefinition is a definition without a violation.
type knownDefinition struct {
	application *Application
	learned     learned
}

// place is where the document of a definition begins.
type place struct {
	path  string
	above int
}

// metadataFile is a metadata.yaml without a violation.
type metadataFile struct {
	sum     [sha256.Size]byte
	content metadata.Metadata
	cost    fileCost
}

// NewKnown returns what is known from another revision, nil for none.
func NewKnown(before *Catalog) *Known {
	k := &Known{definitions: map[place]knownDefinition{}, metadata: map[string]*metadataFile{}}
	if before == nil {
		return k
	}
	for i, of := range before.learned {
		a := before.Applications[i]
		k.definitions[place{a.Path, a.Above}] = knownDefinition{a, of}
		if of.metadataSum != [sha256.Size]byte{} {
			file := &metadataFile{sum: of.metadataSum, content: a.Metadata, cost: of.metadata}
			k.metadata[path.Join(path.Dir(a.Path), MetadataFile)] = file
		}
	}
	return k
}

// definition returns the definition with these bytes at the place of an application, and reports whether it is known.
func (k *Known) definition(data []byte, at *Application) (knownDefinition, bool) {
	if k == nil {
		return knownDefinition{}, false
	}
	k.mu.Lock()
	known, ok := k.definitions[place{at.Path, at.Above}]
	k.mu.Unlock()
	return known, ok && bytes.Equal(known.application.Document, data)
}

// knows reports whether a file that has one document is known.
func (k *Known) knows(file string, data []byte) bool {
	_, ok := k.definition(data, &Application{Path: file})
	return ok || k.metadataFile(data, file) != nil
}

// metadataFile returns the file with these bytes at a path; nil if there is none.
func (k *Known) metadataFile(data []byte, file string) *metadataFile {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	known := k.metadata[file]
	k.mu.Unlock()
	if known != nil && known.sum == sha256.Sum256(data) {
		return known
	}
	return nil
}

func (k *Known) addDefinition(known knownDefinition) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.definitions[place{known.application.Path, known.application.Above}] = known
}

// parsedAhead returns the number of documents that an Ahead has parsed.
func (k *Known) parsedAhead() int64 {
	if k == nil {
		return 0
	}
	return k.ahead
}

// forget makes nothing known.
func (k *Known) forget() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.definitions)
	clear(k.metadata)
}

func (k *Known) addMetadata(file string, known *metadataFile) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.metadata[file] = known
}
