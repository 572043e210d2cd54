// SPDX-License-Identifier: Apache-2.0

package diff

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
}

// New returns a report on the selections.
func New(selections ...*Selection) *Report {
	return &Report{APIVersion: APIVersion, Kind: Kind, Classes: []Class{}, Places: map[string]bool{}, Selections: append([]*Selection{}, selections...), Notes: []string{}, Unknown: []string{}}
}
