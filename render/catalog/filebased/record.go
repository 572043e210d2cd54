// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/each"
)

// Record has what two states of a package are compared by, to be stored as JSON: its channels, and the names and versions of
// its bundles. Its fields are for encoding alone.
type Record struct {
	Name     string          `json:"n"`
	Default  string          `json:"d"`
	Channels []RecordChannel `json:"c"`
	Bundles  []RecordBundle  `json:"b"`
}

// RecordChannel is a channel of a Record.
type RecordChannel struct {
	Name    string        `json:"n"`
	Entries []RecordEntry `json:"e"`
}

// RecordEntry is an entry of a Record.
type RecordEntry struct {
	Name      string   `json:"n"`
	Replaces  string   `json:"r,omitempty"`
	Skips     []string `json:"s,omitempty"`
	SkipRange string   `json:"k,omitempty"`
}

// RecordBundle is a bundle of a Record. Its version has no release: upgrades ignore it.
type RecordBundle struct {
	Name    string `json:"n"`
	Version string `json:"v"`
}

// Record returns what Package restores. Equal packages have equal records.
func (p *Package) Record() Record {
	r := Record{Name: p.Name, Default: p.DefaultChannel}
	for _, channel := range p.Channels {
		recorded := RecordChannel{Name: channel.Name}
		recorded.Entries = each.Map(channel.Entries, func(entry graph.Entry) RecordEntry { return RecordEntry(entry) })
		r.Channels = append(r.Channels, recorded)
	}
	r.Bundles = each.Map(p.Bundles, func(bundle *Bundle) RecordBundle {
		return RecordBundle{Name: bundle.Name, Version: bundle.Version.Semver()}
	})
	return r
}

// Package returns a package with what the record has, and nothing else: it has no documents. The error says why it is the
// record of no package.
func (r Record) Package() (*Package, error) {
	if len(r.Channels) == 0 || len(r.Bundles) == 0 {
		return nil, errors.New("the record of a package has no channels or no bundles")
	}
	p := &Package{Name: r.Name, DefaultChannel: r.Default}
	for _, recorded := range r.Channels {
		channel := &Channel{Name: recorded.Name}
		channel.Entries = each.Map(recorded.Entries, func(entry RecordEntry) graph.Entry { return graph.Entry(entry) })
		p.Channels = append(p.Channels, channel)
	}
	for _, recorded := range r.Bundles {
		version, err := parseVersion(recorded.Version)
		if err != nil {
			return nil, fmt.Errorf("the version of the bundle %s: %w", recorded.Name, err)
		}
		p.Bundles = append(p.Bundles, &Bundle{Name: recorded.Name, Version: version})
	}
	p.intern()
	return p, nil
}
