package catalog

import "sync/atomic"

const (
	// maxDocument bounds an application.yaml in bytes. What the API server stores has to fit into
	// an etcd request, which is limited to about 1.5 MiB, with the managed fields beside it.
	maxDocument = 1 << 20
	// maxMetadata bounds a metadata.yaml of an application in bytes.
	maxMetadata = 64 << 10
	// maxAliased and maxMetadataAliased nodes may be added to a file by expanding its aliases: far
	// more than people write, far less than a "billion laughs" needs. What a metadata.yaml expands
	// to stays in memory.
	maxAliased         = 100_000
	maxMetadataAliased = 10_000
	// maxCatalogAliased nodes may be added to all files of a catalog together: whoever builds all
	// applications at once, as kustomize does, expands all of them at once.
	maxCatalogAliased = 200_000
	// maxKept bounds what a catalog keeps in memory besides the documents, as ledger counts it:
	// 10,000 applications with a hundred versions and ten labels each take three quarters of it.
	maxKept = 128 << 20
	// nodeBytes is what a node of YAML takes at most as a value of Go besides its text: a map with
	// one key, three nodes, takes 48 bytes and 272 for the slots of eight keys.
	nodeBytes = 128
	// textBytes is what a text in a list takes besides its bytes.
	textBytes = 48
)

// bounds of a file.
type bounds struct {
	size     int // bytes of the file
	aliased  int // nodes that are there because of aliases
	expanded int // bytes of scalars after expanding aliases
}

// documentBounds are those of an application.yaml.
func documentBounds() bounds {
	return bounds{size: maxDocument, aliased: maxAliased, expanded: maxDocument}
}

// metadataBounds are those of an application's metadata.yaml.
func metadataBounds() bounds {
	return bounds{size: maxMetadata, aliased: maxMetadataAliased, expanded: maxDocument}
}

// listBounds are those of a named list.
func listBounds() bounds {
	return bounds{size: maxDocument, aliased: maxMetadataAliased, expanded: maxDocument}
}

// ledger counts what the files of a catalog cost together. Its sums do not depend on the order in
// which files are read. Goroutines share it.
type ledger struct {
	aliased, kept atomic.Int64
}

// keep counts bytes that stay in memory, and reports whether they may: the catalog is invalid once
// they may not.
func (l *ledger) keep(bytes int) bool {
	return l.kept.Add(int64(bytes)) <= maxKept
}

// check reports what is over the bounds of a catalog.
func (l *ledger) check(r *report) {
	if aliased := l.aliased.Load(); aliased > maxCatalogAliased {
		r.add(".", 0, "has aliases that expand to %d nodes in all files together, more than %d: write out less with aliases",
			aliased, maxCatalogAliased)
	}
	if kept := l.kept.Load(); kept > maxKept {
		r.add(".", 0, "takes about %d bytes of memory for metadata, named lists, versions and labels, more than %d: remove what no selection needs",
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
	for key, value := range application.Labels {
		bytes += 2*nodeBytes + len(key) + len(value)
	}
	if !l.keep(bytes) {
		application.Versions, application.SpecFields, application.Labels = nil, nil, nil
	}
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
