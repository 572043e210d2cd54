package catalog

import "github.com/winnow-dev/winnow/render/identity"

// Catalog is a valid catalog. It is immutable once loaded and safe for concurrent use.
type Catalog struct {
	// Applications of the catalog, sorted by name; no name occurs twice.
	Applications []*Application
	// Lists are the named lists of catalogs/<name>/metadata.yaml: application names in the
	// order of the file. Every name is that of an application.
	Lists map[string][]string
	// Warnings are what the catalog should say, and does not; a strict check refuses it for them.
	Warnings []Violation
	// Digest of all files that were loaded, <algorithm>:<hex>; empty where the loader does not say.
	Digest string

	kept int64 // bytes of memory besides the documents
}

// Application is a definition of the catalog and what the catalog says about it.
type Application struct {
	// Name is the object's metadata.name: a DNS-1123 subdomain, and so a safe file name.
	Name string
	// Path of the file that defines it, as the file system that was loaded has it.
	Path string
	// Above is the number of lines above Document in the file.
	Above int
	// APIVersion of the object, always <group>/<version>.
	APIVersion string
	// Kind of the object, or of the Content.
	Kind string
	// Group is the part of APIVersion before the slash, or the group of a function.
	Group string
	// Content is the definition of an application that is no object of Kubernetes; otherwise nil. It has no APIVersion
	// then, no Document, and none of what is read of one.
	Content Content
	// Document holds the bytes that define it: a file, or a document of one with the comments before it.
	// They must not be modified.
	Document []byte
	// Versions are those of spec.versions, in the document's order and each once; empty for
	// kinds that have none. Those of a Content are sorted from the highest to the lowest.
	Versions []string
	// Labels are the object's metadata.labels; nil without any, or when they are not a mapping
	// of strings.
	Labels map[string]string
	// Annotations are the object's metadata.annotations; empty without any, and nil where they are not known.
	Annotations map[string]string
	// Method is the object's spec.method, by which KKP installs all versions; empty without one.
	Method string
	// DefaultVersion is the object's spec.defaultVersion; empty without one.
	DefaultVersion string
	// SpecFields are the keys of spec, in the document's order.
	SpecFields []string
	// Identity says which live releases the definition means, and where its versions come from.
	Identity identity.Facts
	// Metadata is the content of the metadata.yaml, empty without one. A format that has none takes it
	// from the object.
	Metadata Metadata
	// Merged are definitions of other catalogs whose versions are among Versions, but not in Document; none
	// in a catalog that was loaded.
	Merged []Merged

	installs installed
}

// Metadata is what a catalog says about an application.
type Metadata struct {
	// Tier of the application. Case matters.
	Tier string
	// Labels have keys and values that are valid in Kubernetes.
	Labels map[string]string
	// Annotations have keys that are valid in Kubernetes.
	Annotations map[string]string
	// Deprecated is the message of a deprecated application, otherwise empty.
	Deprecated string
	// Versions has the facts on versions; the application may lack some.
	Versions Versions
	// Extra holds the keys that have no meaning here, and VersionsKey, in JSON's types:
	// map[string]any, []any, string, bool, int64, float64 and nil. Timestamps are strings.
	Extra map[string]any
}
