// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"encoding/json"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/identity"
)

// Package is a package of operators as it is published. In JSON it is a filebased.Record. Images are compared as origins of the
// Definition.
type Package struct{ of *filebased.Package }

// NewPackage returns what is compared of a package.
func NewPackage(of *filebased.Package) *Package { return &Package{of} }

// MarshalJSON implements json.Marshaler.
func (p Package) MarshalJSON() ([]byte, error) { return json.Marshal(p.of.Record()) }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Package) UnmarshalJSON(data []byte) error {
	var record filebased.Record
	if err := json.Unmarshal(data, &record); err != nil {
		return err
	}
	of, err := record.Package()
	p.of = of
	return err
}

// ImageOrigins returns the origins of bundles by their names: digests of their images, empty for a bundle without one.
func (p *Package) ImageOrigins(names []string) Origins {
	images := make(map[string]string, len(p.of.Bundles))
	for _, bundle := range p.of.Bundles {
		images[bundle.Name] = bundle.Image
	}
	return each.Map(names, func(name string) string { return identity.OriginOf(images[name]) })
}

// numbers returns the semantic versions of the bundles.
func (p *Package) numbers() []string {
	return each.Map(p.of.Bundles, func(bundle *filebased.Bundle) string { return bundle.Version.Semver() })
}
