// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"encoding/json"
	"errors"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/identity"
)

// Package is a package of operators as it is published. In JSON it is a record of what is compared: its channels, and the
// names and versions of its bundles. Images are compared as origins of the Definition.
type Package struct{ of *filebased.Package }

// NewPackage returns what is compared of a package.
func NewPackage(of *filebased.Package) *Package { return &Package{of} }

// MarshalJSON implements json.Marshaler.
func (p Package) MarshalJSON() ([]byte, error) {
	record := p.of.Record()
	record.APIs = nil
	for i, bundle := range record.Bundles {
		record.Bundles[i] = filebased.RecordBundle{Name: bundle.Name, Version: bundle.Version, Release: bundle.Release}
	}
	return json.Marshal(record)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Package) UnmarshalJSON(data []byte) error {
	var record filebased.Record
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	if p.of = record.Package(); p.of == nil {
		return errors.New("a package is not valid")
	}
	return nil
}

// ImageOrigins returns the origins of bundles by their names: digests of their images, empty for a bundle without one.
func (p *Package) ImageOrigins(names []string) Origins {
	images := make(map[string]string, len(p.of.Bundles))
	for _, bundle := range p.of.Bundles {
		images[bundle.Name] = bundle.Image
	}
	origins := make(Origins, len(names))
	for i, name := range names {
		origins[i] = identity.OriginOf(images[name])
	}
	return origins
}

// numbers returns the semantic versions of the bundles.
func (p *Package) numbers() []string {
	var numbers []string
	for _, bundle := range p.of.Bundles {
		numbers = append(numbers, bundle.Version.Semver())
	}
	return numbers
}
