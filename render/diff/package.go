// SPDX-License-Identifier: Apache-2.0

package diff

// Package has the changes of a package of operators, as far as the selection keeps it.
type Package struct {
	// DefaultChannel is the change of the default channel; nil when it stays.
	DefaultChannel *Field `json:"defaultChannel,omitempty"`
	// Channels that change, sorted by name.
	Channels []Channel `json:"channels"`
	// Provides are the APIs, and Requires the dependencies, that heads of channels newly have, or have no more.
	Provides []API         `json:"provides"`
	Requires []Requirement `json:"requires"`
	// Repairs are sentences about entries of channels that stay, or go, against the rules for versions.
	Repairs []Repair `json:"repairs"`
	// Documents counts those that change and that OLM has no meaning for.
	Documents int `json:"documents,omitempty"`
}

// Channel is the change of a channel of a package of operators.
type Channel struct {
	Name string `json:"name"`
	// Change is added, removed or updated.
	Change Change `json:"change"`
	// Head is the change of the head; nil when it stays.
	Head *Head `json:"head,omitempty"`
	// Added and Removed count the versions that the channel has newly, or has no more, where it stays.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
	// Stranded are the versions that nothing in the channel succeeds any more. If it is the new default channel, they
	// include versions of the former one that nothing in this one succeeds.
	Stranded []string `json:"stranded,omitempty"`
	// Deprecated is the message of a channel that was not deprecated, or not there, before.
	Deprecated string `json:"deprecated,omitempty"`
	// Fields are the first changes of the document, and of the entries that stay, and the number of further ones.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// Head is the change of the head of a channel. From is absent for a channel that is added, To for one that is removed.
type Head struct {
	From *Bundle `json:"from,omitempty"`
	To   *Bundle `json:"to,omitempty"`
	// Kind of the step as in Step; empty without From or To.
	Kind string `json:"kind,omitempty"`
}

// Bundle is a version of a package of operators.
type Bundle struct {
	Version string `json:"version"`
	// Number is the semantic version, with the release if there is one.
	Number string `json:"number"`
}

// API is one that a package of operators begins, or ceases, to provide.
type API struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Change is added or removed.
	Change Change `json:"change"`
	// Channels whose heads begin or cease to provide it.
	Channels []string `json:"channels"`
}

// Requirement is what a package of operators begins, or ceases, to require.
type Requirement struct {
	// Text for people, such as "the package plum >=1.0.0".
	Text string `json:"text"`
	// Type of the property: olm.package.required, olm.gvk.required or olm.constraint.
	Type string `json:"type"`
	// Package and VersionRange, or Group, Version and Kind, are absent for a constraint of several parts.
	Package      string `json:"package,omitempty"`
	VersionRange string `json:"versionRange,omitempty"`
	Group        string `json:"group,omitempty"`
	Version      string `json:"version,omitempty"`
	Kind         string `json:"kind,omitempty"`
	// Change is added or removed.
	Change Change `json:"change"`
	// Channels whose heads begin or cease to require it.
	Channels []string `json:"channels"`
}

// Repair is a sentence about entries that was not true, or is no more.
type Repair struct {
	Change Change `json:"change"`
	Text   string `json:"text"`
}

// IsEmpty reports whether nothing of the package changes.
func (p *Package) IsEmpty() bool {
	return p.DefaultChannel == nil && len(p.Channels)+len(p.Provides)+len(p.Requires)+len(p.Repairs)+p.Documents == 0
}

// shorten replaces the fields of a package, which may be nil, by their numbers.
func (p *Package) shorten() {
	if p == nil {
		return
	}
	for i := range p.Channels {
		c := &p.Channels[i]
		c.Fields, c.FieldsOmitted = nil, c.FieldsOmitted+len(c.Fields)
	}
}

// ServedCatalog is a change of a catalog of OLM that serves the packages of the artifact, as spec.push.catalog asks
// for.
type ServedCatalog struct {
	// Object is <kind> <namespace>/<name>.
	Object string `json:"object"`
	// Change is added, removed or updated.
	Change Change `json:"change"`
	// Deleted is true for a removal if Flux deletes the catalog, where the Kustomization prunes. Nil for other changes.
	Deleted *bool `json:"deleted,omitempty"`
	// Fields are the first changes of the object, and the number of further ones. Another digest of the image is none of
	// them where packages change, from which it follows.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}
