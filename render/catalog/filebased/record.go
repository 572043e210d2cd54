// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// Record has what pruning and the facts of a package need, without its documents, to be stored as JSON. Its fields are
// for encoding alone.
type Record struct {
	Name       string          `json:"n"`
	Default    string          `json:"d"`
	Deprecated string          `json:"x,omitempty"`
	Channels   []RecordChannel `json:"c"`
	Bundles    []RecordBundle  `json:"b"`
	// APIs are those that bundles provide, each once.
	APIs []GVK `json:"a,omitempty"`
}

// RecordChannel is a channel of a Record.
type RecordChannel struct {
	Name       string        `json:"n"`
	Deprecated string        `json:"x,omitempty"`
	Entries    []RecordEntry `json:"e"`
}

// RecordEntry is an entry of a Record.
type RecordEntry struct {
	Name      string   `json:"n"`
	Replaces  string   `json:"r,omitempty"`
	Skips     []string `json:"s,omitempty"`
	SkipRange string   `json:"k,omitempty"`
}

// RecordBundle is a bundle of a Record.
type RecordBundle struct {
	Name       string `json:"n"`
	Version    string `json:"v"`
	Release    string `json:"l,omitempty"`
	Deprecated string `json:"x,omitempty"`
	// Provides are indexes of the APIs of the Record.
	Provides     []int              `json:"p,omitempty"`
	Dependencies []RecordDependency `json:"q,omitempty"`
	// InstallModes are missing when they are not known, and empty when there is none.
	InstallModes []string `json:"m,omitzero"`
}

// RecordDependency is a dependency of a Record.
type RecordDependency struct {
	Type         string `json:"t"`
	Package      string `json:"n,omitempty"`
	VersionRange string `json:"v,omitempty"`
	API          GVK    `json:"a,omitzero"`
	Message      string `json:"m,omitempty"`
}

// Record returns what Package restores. Equal packages have equal records. It has no images: a digest cannot be packed,
// and would be most of it.
func (p *Package) Record() Record {
	r := Record{Name: p.Name, Default: p.DefaultChannel, Deprecated: p.Deprecated}
	for _, channel := range p.Channels {
		recorded := RecordChannel{Name: channel.Name, Deprecated: channel.Deprecated}
		for _, entry := range channel.Entries {
			recorded.Entries = append(recorded.Entries, RecordEntry(entry))
		}
		r.Channels = append(r.Channels, recorded)
	}
	for _, bundle := range p.Bundles {
		r.APIs = append(r.APIs, bundle.Provides...)
	}
	slices.SortFunc(r.APIs, GVK.Compare)
	r.APIs = slices.Clip(slices.Compact(r.APIs))
	for _, bundle := range p.Bundles {
		r.Bundles = append(r.Bundles, recordBundle(bundle, r.APIs))
	}
	return r
}

func recordBundle(bundle *Bundle, apis []GVK) RecordBundle {
	r := RecordBundle{
		Name: bundle.Name, Version: bundle.Version.Semver(), Release: bundle.Version.releaseText(),
		Deprecated: bundle.Deprecated, InstallModes: bundle.InstallModes,
	}
	for _, api := range bundle.Provides {
		i, _ := slices.BinarySearchFunc(apis, api, GVK.Compare)
		r.Provides = append(r.Provides, i)
	}
	for _, one := range bundle.Dependencies {
		r.Dependencies = append(r.Dependencies, RecordDependency(one))
	}
	return r
}

// Package returns the package of which the record is, without documents: its blobs, and those of what it has, are
// nil, and so is what About says. It is nil if the record is not one of a valid package.
func (r Record) Package() *Package {
	var found report
	loaded := assemble(r.blobs(), nil, &found)
	if found.total > 0 || len(loaded.Packages) != 1 {
		return nil
	}
	restored := loaded.Packages[0].withoutBlobs()
	restored.intern()
	return restored
}

// blobs returns documents that have contents alone. A bundle that cannot be restored is missing, so that the package
// is not valid.
func (r Record) blobs() []*Blob {
	deprecated := &deprecationContent{}
	deprecates := func(schema, name, message string) {
		if message != "" {
			deprecated.Entries = append(deprecated.Entries, Deprecation{Reference: Reference{Schema: schema, Name: name}, Message: message})
		}
	}
	deprecates(SchemaPackage, "", r.Deprecated)
	blobs := []*Blob{{Schema: SchemaPackage, Name: r.Name, content: &packageContent{DefaultChannel: r.Default}}}
	for _, channel := range r.Channels {
		entries := make([]graph.Entry, len(channel.Entries))
		for i, entry := range channel.Entries {
			entries[i] = graph.Entry(entry)
			entries[i].Skips = slices.Clone(entry.Skips) // Package interns its names
		}
		blobs = append(blobs, &Blob{Schema: SchemaChannel, Package: r.Name, Name: channel.Name, content: &channelContent{Entries: entries}})
		deprecates(SchemaChannel, channel.Name, channel.Deprecated)
	}
	for _, one := range r.Bundles {
		if bundle := one.bundle(r.APIs); bundle != nil {
			blobs = append(blobs, &Blob{Schema: SchemaBundle, Package: r.Name, Name: one.Name, content: bundle})
		}
		deprecates(SchemaBundle, one.Name, one.Deprecated)
	}
	if len(deprecated.Entries) > 0 {
		blobs = append(blobs, &Blob{Schema: SchemaDeprecation, Package: r.Name, content: deprecated})
	}
	return blobs
}

// bundle returns nil if the record is not valid.
func (r RecordBundle) bundle(apis []GVK) *Bundle {
	bundle := &Bundle{Name: r.Name, InstallModes: r.InstallModes}
	var err error
	if bundle.Version, err = parseVersion(r.Version); err != nil {
		return nil
	}
	if bundle.Version.release, err = parseRelease(r.Release); err != nil {
		return nil
	}
	for _, i := range r.Provides {
		if i < 0 || i >= len(apis) {
			return nil
		}
		bundle.Provides = append(bundle.Provides, apis[i])
	}
	for _, one := range r.Dependencies {
		bundle.Dependencies = append(bundle.Dependencies, Dependency(one))
	}
	return bundle
}

// isRecorded reports whether the package is of a Record.
func (p *Package) isRecorded() bool { return p.blob == nil }

// withoutBlobs takes the documents from a package that nothing else has.
func (p *Package) withoutBlobs() *Package {
	p.blob, p.deprecations, p.Blobs = nil, nil, nil
	for _, channel := range p.Channels {
		channel.Blob = nil
	}
	for _, bundle := range p.Bundles {
		bundle.Blob = nil
	}
	return p
}
