// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"path"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// What a catalog may cost: the bounds of files, of texts and of memory, and the ledger that adds them up.

const (
	// maxDocument bounds an application.yaml, and a named list, in bytes. What the API server stores has to fit into
	// an etcd request, which is limited to about 1.5 MiB, with the managed fields beside it.
	maxDocument = 1 << 20
	// maxMetadata bounds a metadata.yaml of an application in bytes.
	maxMetadata = 64 << 10
	// maxMetadataAliased nodes may be added to a metadata.yaml, and to a named list, by expanding its aliases, which is less
	// than to other files: what it expands to stays in memory.
	maxMetadataAliased = 10_000
	// maxCatalogAliased nodes may be added to all files of a catalog together: kustomize
	// builds all applications at once, and expands the aliases of all of them.
	maxCatalogAliased = 200_000
	// maxKept bounds what a catalog keeps in memory besides the documents, as ledger counts it:
	// 10,000 applications with a hundred versions and ten labels each take three quarters of it.
	maxKept = 128 << 20
	// nodeBytes is what a node of YAML takes at most as a value of Go besides its text: a map with
	// one key, three nodes, takes 48 bytes and 272 for the slots of eight keys.
	nodeBytes = 128
	// textBytes is what a text in a list takes besides its bytes.
	textBytes = 48
	// maxName bounds a name in bytes: in the artifact it becomes the name of a file, which has at most 255.
	maxName = 255 - len(".yaml")
	// maxVersion bounds in bytes what conditions and the API repeat.
	maxVersion = 253
)

// ledger counts what the files of a catalog cost together. Its sums do not depend on the order in
// which files are read. Goroutines share it.
type ledger struct {
	aliased, kept atomic.Int64
	// parsed is the number of documents that were parsed.
	parsed atomic.Int64
}

// keep counts bytes that stay in memory, and reports whether they may: the catalog is invalid once
// they may not.
func (l *ledger) keep(bytes int) bool {
	return l.kept.Add(int64(bytes)) <= maxKept
}

// check reports what is over the bounds of a catalog.
func (l *ledger) check(r *violation.Report) {
	if aliased := l.aliased.Load(); aliased > maxCatalogAliased {
		r.Add(".", "has aliases that expand to %d nodes in all files together, more than %d: write out less with aliases",
			aliased, maxCatalogAliased)
	}
	if kept := l.kept.Load(); kept > maxKept {
		r.Add(".", "takes about %d bytes of memory for metadata, named lists, versions and labels, more than %d: remove what no selection needs",
			kept, maxKept)
	}
}

// keepFacts counts what is kept of the document besides its bytes, or drops it. The name stays, for
// what is reported.
func (l *ledger) keepFacts(application *Application) {
	bytes := 0
	for _, texts := range [][]string{application.Versions, application.SpecFields} {
		for _, text := range texts {
			bytes += textBytes + len(text)
		}
	}
	for _, pairs := range []map[string]string{application.Labels, application.Annotations} {
		for key, value := range pairs {
			bytes += nodeBytes + len(key) + len(value)
		}
	}
	if !l.keep(bytes) {
		application.Versions, application.SpecFields = nil, nil
		application.Labels, application.Annotations = nil, nil
	}
}

// Cost of loading a catalog, from the sizes of the files that it needs. The zero value is the cost
// of an empty one.
type Cost struct {
	documents, metadata, largest int64
}

// Add adds a file that loading needs.
func (c *Cost) Add(name string, size int64) {
	if strings.HasPrefix(path.Base(name), "metadata.") {
		c.metadata += size
	} else {
		c.documents += size
	}
	c.largest = max(c.largest, min(size, maxDocument))
}

const (
	// parsedBytes is what a byte of YAML takes at most while it is parsed: a node takes 160 for
	// itself, and "- - -" has one in two bytes.
	parsedBytes = 128
	// keptMetadata and keptFacts is what a byte of a metadata.yaml and of an application.yaml takes
	// at most afterwards, as ledger counts it.
	keptMetadata = nodeBytes / 2
	keptFacts    = 24
)

// Bytes returns how many bytes of memory loading takes at most.
func (c Cost) Bytes() int64 {
	workers := int64(runtime.GOMAXPROCS(0))
	kept := min(maxKept, keptMetadata*c.metadata+keptFacts*c.documents)
	return c.documents + c.metadata + kept + workers*parsedBytes*c.largest
}

// Size returns about how many bytes of memory the catalog takes: the documents, and what is kept
// of them and of the metadata. It is an upper bound of the latter.
func (c *Catalog) Size() int64 {
	size := c.kept
	for _, application := range c.Applications {
		size += int64(len(application.Document))
	}
	return size
}
