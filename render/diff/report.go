package diff

import (
	"github.com/winnow-dev/winnow/api/v1alpha1"
)

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
	return &Report{APIVersion: APIVersion, Kind: Kind, Selections: append([]*Selection{}, selections...), Notes: []string{}, Unknown: []string{}}
}

// Change is the kind of a change.
type Change string

// Changes. Replaced is a version that stays, with another entry in spec.versions.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Updated Change = "updated"
	// Unresolved is an instance that neither state installs.
	Unresolved Change = "unresolved"
	Replaced   Change = "replaced"
	Unchanged  Change = "unchanged"
)

// Cause is the cause of a loss.
type Cause string

// Causes. The safeguards ignore CauseSpec, because the edit was reviewed. CausePlatform is the cause where
// spec.platform drops the version, or all versions of the application. CauseAdoption is the cause where only a
// live definition has the version.
const (
	CauseCatalog  Cause = "catalog"
	CauseSpec     Cause = "spec"
	CausePlatform Cause = "platform"
	CauseAdoption Cause = "adoption"
)

// Selection has the changes of the artifact of one CatalogSelection.
type Selection struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Everything is true if there is no CatalogSelection: two catalogs are compared for a selection of all
	// applications with the default safeguards.
	Everything bool `json:"everything,omitempty"`
	// Cluster is the directory of the cluster that the CatalogSelection is applied to; empty when unknown.
	Cluster string `json:"cluster,omitempty"`
	// File of the newer CatalogSelection, or of the older one if it is removed.
	File string `json:"file,omitempty"`
	// Change of the artifact: added, removed, updated or unchanged. The other fields may have findings even
	// if it is unchanged.
	Change Change `json:"change"`
	// SpecChanged is true if a part of the spec was edited that the artifact depends on.
	SpecChanged bool `json:"specChanged"`
	// From and To are the states; nil if the selection does not exist.
	From *State `json:"from,omitempty"`
	To   *State `json:"to,omitempty"`
	// Counts summarizes Applications.
	Counts Counts `json:"counts"`
	// Applications with changes or notices, sorted by name.
	Applications []Application `json:"applications"`
	// Instances with changes, and those that cannot be installed, sorted by name.
	Instances []Instance `json:"instances,omitempty"`
	// Served are the changes of the catalog of OLM that serves the packages: two where another one replaces it.
	Served []ServedCatalog `json:"served,omitempty"`
	// Loosened are the protections that the edit of the spec removes.
	Loosened []Loosened `json:"loosened"`
	// Transient are the losses until Flux has pulled the newer catalogs; nil for none.
	Transient *Transient `json:"transient,omitempty"`
	// Held are the changes that the safeguards hold; nil for none.
	Held *Held `json:"held,omitempty"`
	// Moves are applications that leave for another selection.
	Moves []Move `json:"moves"`
	// Live is true if the cluster was read. Otherwise bypass and adoption are unknown.
	Live bool `json:"live"`
	// NothingLives is true if no cluster has objects of either artifact that a comparison with it would be about: both
	// have packages of operators, or functions, alone.
	NothingLives bool `json:"-"`
	// Bypassed are applications whose live definitions Flux leaves alone; only with Live.
	Bypassed []string `json:"bypassed"`
	// Replaced are the settings of live definitions that the publication replaces, by name; only with Live.
	Replaced []Settings `json:"replaced"`
	// Keep are members of the spec, as YAML, that keep the replaced settings; empty for none. It has live
	// values, which may be secret.
	Keep string `json:"keep,omitempty"`
	// Notes are further sentences for readers.
	Notes []string `json:"notes"`
	// Unknown are sentences about what could not be compared. Then nothing else is compared.
	Unknown []string `json:"unknown"`
	// Error is why one of the states could not be rendered. Then nothing is compared.
	Error string `json:"error,omitempty"`
}

// State is one of the two compared artifacts.
type State struct {
	// Revision of the artifact.
	Revision string `json:"revision"`
	// Available and Selected count applications.
	Available int `json:"available"`
	Selected  int `json:"selected"`
	// Sources in the order of the spec.
	Sources []Source `json:"sources"`
}

// Source is a source of a state.
type Source struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Checksum of the source's revision, of an OCIRepository the digest of the manifest; empty when
	// it is unknown.
	Checksum string `json:"checksum,omitempty"`
}

// Counts are numbers of applications, except those that name versions.
type Counts struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Deleted counts those of Removed that Flux deletes.
	Deleted          int `json:"deleted"`
	Updated          int `json:"updated"`
	Unchanged        int `json:"unchanged"`
	VersionsAdded    int `json:"versionsAdded"`
	VersionsRemoved  int `json:"versionsRemoved"`
	VersionsReplaced int `json:"versionsReplaced"`
	// SourceChanges counts those of VersionsReplaced that come from another chart, repository or commit.
	SourceChanges int `json:"sourceChanges"`
	Major         int `json:"major"`
	Minor         int `json:"minor"`
	Patch         int `json:"patch"`
	Deprecated    int `json:"deprecated"`
	// VersionsDeprecated counts newly deprecated versions, also of applications that are added.
	VersionsDeprecated int `json:"versionsDeprecated,omitempty"`
	Unmirrored         int `json:"unmirrored"`
	// Adopted counts those of Updated and Unchanged that enter the artifact and live in the cluster already.
	Adopted int `json:"adopted"`
}

// Application has the changes of one application.
type Application struct {
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Source is the name of its source; of a removed application, its former source.
	Source string `json:"source"`
	// Change of the object: added, removed, updated or unchanged.
	Change Change `json:"change"`
	// Adopted is true if the definition enters the artifact and lives in the cluster already: then it is
	// compared with the live one.
	Adopted bool `json:"adopted,omitempty"`
	// Untouched is true instead if Flux leaves the live definition alone.
	Untouched bool `json:"untouched,omitempty"`
	// Cause and Reason of a removal.
	Cause  Cause  `json:"cause,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Deleted is true for a removal if Flux deletes the live definition, where the Kustomization prunes.
	// Otherwise the definition stays in the cluster without updates. Nil where it moves.
	Deleted *bool `json:"deleted,omitempty"`
	// Versions that are added, removed or replaced; all versions of an added or removed application.
	Versions []Version `json:"versions"`
	// SourceChanged is true if the definition, which has no versions, comes from another chart.
	SourceChanged bool `json:"sourceChanged,omitempty"`
	// Identity are the changed fields of those that decide which live releases are meant: the releases are
	// orphaned, and installed again.
	Identity []Field `json:"identity,omitempty"`
	// Highest is the change of the highest version; nil when it stays.
	Highest *Step `json:"highest,omitempty"`
	// DefaultNamespace is the change of spec.defaultNamespace.name.
	DefaultNamespace *Field `json:"defaultNamespace,omitempty"`
	// Values is the change of the default values; nil when they stay.
	Values *Values `json:"values,omitempty"`
	// Fields are the first of the other changes of the object, and the number of further ones.
	Fields        []Field `json:"fields"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
	// Deprecated is the message of an application that was not deprecated, or did not exist, before.
	Deprecated string `json:"deprecated,omitempty"`
	// DeprecatedVersions are the versions that were not deprecated, or not there, before.
	DeprecatedVersions []DeprecatedVersion `json:"deprecatedVersions,omitempty"`
	// Unmirrored are the hosts that its installation newly needs and that no mirror covers.
	Unmirrored []Host `json:"unmirrored"`
	// Unsearched is why its default values can no longer be searched for hosts.
	Unsearched string `json:"unsearched,omitempty"`
	// Package has the changes of a package of operators; nil for others, and where it stays.
	Package *Package `json:"package,omitempty"`
}

// Version is the change of one entry of spec.versions.
type Version struct {
	Version string `json:"version"`
	// Number is the semantic version, where it is not the name.
	Number string `json:"number,omitempty"`
	// Change is added, removed or replaced.
	Change Change `json:"change"`
	// Cause of a removal.
	Cause Cause `json:"cause,omitempty"`
	// SourceChanged is true for a replaced entry that comes from another chart, repository or commit.
	SourceChanged bool `json:"sourceChanged,omitempty"`
	// Fields are the first changed fields of the entry, and the number of further ones.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// DeprecatedVersion is a version with the message of its deprecation.
type DeprecatedVersion struct {
	Version string `json:"version"`
	// Number is the semantic version, where it is not the name.
	Number  string `json:"number,omitempty"`
	Message string `json:"message"`
}

// Field is a change of one field. From and To are JSON, cut when long; empty where the field does not
// exist.
type Field struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Step is the change of the highest semantic version.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Kind is major, minor, patch or other (a pre-release, or build metadata) for a rise, and lower.
	Kind string `json:"kind"`
}

// Values is a change of default values.
type Values struct {
	// Field is the field of the spec with the values; of removed values, the former one.
	Field string `json:"field"`
	// Added and Removed count lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is in the unified format without its header, and Omitted the number of lines that were cut.
	Diff    string `json:"diff"`
	Omitted int    `json:"omitted,omitempty"`
}

// Host is a host that an installation fetches from.
type Host struct {
	Host string `json:"host"`
	// Kind is chart, git or image.
	Kind string `json:"kind"`
	Path string `json:"path"`
}

// Held are the changes that the safeguards hold.
type Held struct {
	// Reasons are those of status.held.
	Reasons []v1alpha1.HeldReason `json:"reasons"`
	// Approved is true if the selection approves all of them: then they are published.
	Approved bool `json:"approved"`
	// Approve are the lines to add to spec.safeguards.approve.
	Approve []string `json:"approve"`
	// Render is the checksum of the newer artifact. Approving it alone is enough; absent where no approval
	// is possible.
	Render string `json:"render,omitempty"`
	// BaseApprovals are entries of spec.safeguards.approve that name checksums to approve, but that the
	// older state has already: they are used up, or were reviewed with another change.
	BaseApprovals []string `json:"baseApprovals"`
	// SecondSources keep what is held without an approval, as far as the older revisions of sources can be
	// pinned.
	SecondSources []SecondSource `json:"secondSources,omitempty"`
}
