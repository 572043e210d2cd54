// SPDX-License-Identifier: Apache-2.0

package diff

import "github.com/winnow-dev/winnow/render/safeguard"

// Instance has the changes of one instance.
type Instance struct {
	Name        string `json:"name"`
	Application string `json:"application"`
	// Source is the name of the source of the application; empty for an instance that neither state installs.
	Source string `json:"source,omitempty"`
	// Change is added, removed, updated or unresolved.
	Change Change `json:"change"`
	// Version that is installed, where it stays; empty for a definition without versions.
	Version string `json:"version,omitempty"`
	// Upgrade is the change of the version; nil where it stays.
	Upgrade *Step `json:"upgrade,omitempty"`
	// Requested is the change of the version in the spec; nil where it stays.
	Requested *Field `json:"requested,omitempty"`
	// Backend that installs it.
	Backend string `json:"backend,omitempty"`
	// Object is <kind> <namespace>/<name> of its main object.
	Object string `json:"object,omitempty"`
	// Reason why it cannot be installed, or why it is removed.
	Reason string `json:"reason,omitempty"`
	// VersionGone is true if the application is selected, and has no such version.
	VersionGone bool `json:"versionGone,omitempty"`
	// Deleted is true for a removal if Flux deletes the main object, where the Kustomization prunes: then what runs is
	// uninstalled. Nil for other changes.
	Deleted *bool `json:"deleted,omitempty"`
	// SourceChanged is true if the same version comes from another chart, repository or commit.
	SourceChanged bool `json:"sourceChanged,omitempty"`
	// Identity are the changed fields of those that decide which live release is meant: what runs is uninstalled, and
	// installed anew.
	Identity []Field `json:"identity,omitempty"`
	// Values is the change of its values, with the default values of the definition under them; nil when they stay.
	Values *Values `json:"values,omitempty"`
	// Fields are the first of the other changes of its objects, and the number of further ones.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// Major reports whether the instance rises to another major version, or to a version that cannot be compared.
func (in Instance) Major() bool {
	u := in.Upgrade
	return u != nil && u.Kind != StepDowngrade && safeguard.Change{From: u.From, To: u.To}.IsMajor()
}

// LosesVersion reports whether the version of the instance is gone, or a lower one replaces it.
func (in Instance) LosesVersion() bool {
	return in.Change == Removed && in.VersionGone || in.Upgrade != nil && in.Upgrade.Kind == StepDowngrade
}
