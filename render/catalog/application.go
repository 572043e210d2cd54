// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/identity"
)

// Application is a definition of the catalog and what the catalog states about it.
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
	// Versions of spec.versions, in the document's order and each once; empty for kinds that have
	// none. The versions of a Content are sorted from the highest to the lowest.
	Versions []string
	// Labels are the object's metadata.labels; nil without any, or when they are not a mapping
	// of strings.
	Labels map[string]string
	// Annotations are the object's metadata.annotations; empty without any.
	Annotations map[string]string
	// Method is the object's spec.method, which KKP installs all versions with; empty without one.
	Method string
	// DefaultVersion is the object's spec.defaultVersion; empty without one.
	DefaultVersion string
	// SpecFields are the keys of spec, in the document's order.
	SpecFields []string
	// Identity states which live releases the definition means, and where its versions come from.
	Identity identity.Facts
	// Metadata is the content of the metadata.yaml, empty without one. A format that has none takes it
	// from the object.
	Metadata metadata.Metadata
	// Merged are definitions of other catalogs whose versions are among Versions, but not in Document; none
	// in a catalog that was loaded.
	Merged []Merged

	installs installed
}

// Merged is the definition of another catalog that adds versions to an application.
type Merged struct {
	// Source is the name of the source that has it.
	Source string
	// From is the definition. It has not been changed.
	From *Application
	// Versions of it that are added, in its order.
	Versions []string
}

// With returns a copy of the application with versions of another definition behind its own. The document
// stays as it is.
func (a *Application) With(added Merged) *Application {
	merged := *a
	merged.Versions = slices.Concat(a.Versions, added.Versions)
	merged.Merged = append(slices.Clip(a.Merged), added)
	merged.Metadata = a.Metadata.With(added.Versions, added.From.Metadata)
	return &merged
}

// Channels returns the channels of all versions of the application, sorted and each once.
func (a *Application) Channels() []string {
	var channels []string
	for _, version := range a.Versions {
		channels = append(channels, a.Metadata.Versions.Of(version).Channels...)
	}
	slices.Sort(channels)
	return slices.Compact(channels)
}

// OfCozystack reports whether the application is a definition of Cozystack, by its kind and its fields.
func (a *Application) OfCozystack() bool { return a.Identity.Fields != nil }

// IsObject reports whether the definition of the application is an object of Kubernetes.
func (a *Application) IsObject() bool { return a.Content == nil }

// installed is the kind that a definition of Cozystack makes installable.
type installed struct {
	kind string
	line int
}
