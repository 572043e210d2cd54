// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Dependency is what a bundle requires of other bundles.
type Dependency struct {
	// Type is PackageRequired, GVKRequired or Constraint.
	Type string
	// Package and VersionRange are set when a version of a package is required, also by a Constraint of nothing else.
	Package, VersionRange string
	// API is set when a bundle that provides it is required, also by a Constraint of nothing else.
	API GVK
	// Message of a Constraint for people: its own, or what it consists of. It is never empty for one.
	Message string
}

// String returns what is required, for people.
func (d Dependency) String() string {
	switch {
	case d.Type == Constraint && d.Package == "" && d.API == GVK{}:
		return d.Message
	case d.API != GVK{}:
		return describeAPI(d.API)
	case d.VersionRange == "":
		return "the package " + excerpt.Of(d.Package)
	}
	return fmt.Sprintf("the package %s %s", excerpt.Of(d.Package), excerpt.Of(d.VersionRange))
}

// packageRequired is a version of a package.
type packageRequired struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

// constraint is one of these.
type constraint struct {
	FailureMessage string           `json:"failureMessage"`
	Package        *packageRequired `json:"package"`
	GVK            *GVK             `json:"gvk"`
	CEL            *struct {
		Rule string `json:"rule"`
	} `json:"cel"`
	All, Any, Not *compound
}

type compound struct {
	Constraints []json.RawMessage `json:"constraints"`
}

// readDependency reads the value of a property. OLM's tools accept any value of a Constraint, and the bundle has the
// dependency whether or not it can be read.
func readDependency(name string, value []byte) Dependency {
	found := Dependency{Type: name}
	switch name {
	case PackageRequired:
		var required packageRequired
		_ = json.Unmarshal(value, &required) // it has the shape
		found.Package, found.VersionRange = required.PackageName, required.VersionRange
	case GVKRequired:
		found.API = readGVK(value)
	case Constraint:
		var read constraint
		if json.Unmarshal(value, &read) != nil {
			read = constraint{}
		}
		read.fill(&found)
	}
	return found
}

// fill sets what is required, and the message.
func (c constraint) fill(into *Dependency) {
	description := "a constraint that cannot be read"
	switch {
	case c.forms() != 1:
	case c.Package != nil:
		into.Package, into.VersionRange = c.Package.PackageName, c.Package.VersionRange
		description = Dependency{Type: PackageRequired, Package: into.Package, VersionRange: into.VersionRange}.String()
	case c.GVK != nil:
		into.API = *c.GVK
		description = describeAPI(into.API)
	case c.CEL != nil:
		description = "the CEL rule " + excerpt.Quoted(c.CEL.Rule)
	case c.All != nil:
		description = fmt.Sprintf("all of %d constraints", len(c.All.Constraints))
	case c.Any != nil:
		description = fmt.Sprintf("one of %d constraints", len(c.Any.Constraints))
	default:
		description = fmt.Sprintf("none of %d constraints", len(c.Not.Constraints))
	}
	into.Message = cmp.Or(c.FailureMessage, description)
}

// forms counts what the constraint consists of, which should be one thing.
func (c constraint) forms() (count int) {
	for _, isSet := range []bool{c.Package != nil, c.GVK != nil, c.CEL != nil, c.All != nil, c.Any != nil, c.Not != nil} {
		if isSet {
			count++
		}
	}
	return count
}
