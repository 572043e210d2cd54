// SPDX-License-Identifier: Apache-2.0

package diff

import "slices"

// APIVersion and Kind of a Report. docs/diff.md describes it; a field keeps its meaning within a version.
const (
	APIVersion = "diff.winnow.dev/v1alpha1"
	Kind       = "Diff"
)

// Report has the changes of selections. Lists are never null in JSON.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// From and To are the compared commits, or catalogs where there is no selection.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Classes have the selections by the effect of the change on them, those with decisions first, as Classified returns them.
	Classes []Class `json:"classes"`
	// Same are the selections that are not compared: spec and sources are the same in both commits.
	Same []Place `json:"-"`
	// Places are the clusters and files with which sentences of Notes and Unknown begin.
	Places map[string]bool `json:"-"`
	// Selections in the order of their files, namespaces and names.
	Selections []*Selection `json:"selections"`
	// Notes on files that could not be read, or were left out.
	Notes []string `json:"notes"`
	// Unknown are sentences about differences outside of the selections that may affect one and could not
	// be evaluated.
	Unknown []string `json:"unknown"`
	// Uses are the installations of what is lost, and of what is deprecated, what is used first; nil where no receipts were read.
	Uses []Use `json:"uses,omitempty"`
}

// New returns a report on the selections.
func New(selections ...*Selection) *Report {
	return &Report{APIVersion: APIVersion, Kind: Kind, Classes: []Class{}, Places: map[string]bool{}, Selections: append([]*Selection{}, selections...), Notes: []string{}, Unknown: []string{}}
}

// Held returns the selections with something held, in their order.
func (r *Report) Held() []*Selection {
	return slices.DeleteFunc(slices.Clone(r.Selections), func(s *Selection) bool { return !s.IsHeld() })
}

// Effect is what a reviewer decides on.
type Effect string

// Effects, those with the decisions first. Of several, a selection has the first one.
const (
	// EffectHeld is a change that the safeguards hold.
	EffectHeld Effect = "held"
	// EffectUnknown is one that could not be compared.
	EffectUnknown   Effect = "unknown"
	EffectLoosened  Effect = "loosened"
	EffectChanged   Effect = "changed"
	EffectUnchanged Effect = "unchanged"
)

// Effects returns all effects in their order.
func Effects() []Effect {
	return []Effect{EffectHeld, EffectUnknown, EffectLoosened, EffectChanged, EffectUnchanged}
}

// Class has the selections on which the change has the same effect: the same changes, the same holds and the same
// approvals. The checksum of a render, which is another one in each namespace, makes no class.
type Class struct {
	Effect Effect `json:"effect"`
	// Selections in the order of the report.
	Selections []Place `json:"selections"`

	members []*Selection `json:"-"`
}

// Place names a selection.
type Place struct {
	// Kind is OCIRepository for a promotion, and empty for a CatalogSelection.
	Kind string `json:"kind,omitempty"`
	// Cluster is the directory of its cluster, and File the file that has it; empty where they are not known.
	Cluster   string `json:"cluster,omitempty"`
	File      string `json:"file,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Place returns the place of the selection.
func (s *Selection) Place() Place {
	place := Place{Cluster: s.Cluster, File: s.File, Namespace: s.Namespace, Name: s.Name}
	if s.Promotion != nil {
		place.Kind = "OCIRepository"
	}
	return place
}
