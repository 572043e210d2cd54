package diff

import (
	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// APIVersion and Kind of a Report. docs/diff.md describes it; a field that is there keeps its
// meaning within a version.
const (
	APIVersion = "diff.winnow.dev/v1alpha1"
	Kind       = "Diff"
)

// Report is what changes. Lists are never null in JSON.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// From and To are the commits that are compared, or the catalogs where there is no selection.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Selections in the order of their files, namespaces and names.
	Selections []*Selection `json:"selections"`
	// Notes on files that could not be read, or were left out.
	Notes []string `json:"notes"`
	// Unknown is what differs beside the selections, may reach one and could not be evaluated, in
	// sentences.
	Unknown []string `json:"unknown"`
}

// New returns a report on the selections.
func New(selections ...*Selection) *Report {
	return &Report{APIVersion: APIVersion, Kind: Kind, Selections: append([]*Selection{}, selections...), Notes: []string{}, Unknown: []string{}}
}

// Change is what happens to something.
type Change string

// Changes. Replaced is a version that stays, with another entry in spec.versions.
const (
	Added     Change = "added"
	Removed   Change = "removed"
	Updated   Change = "updated"
	Replaced  Change = "replaced"
	Unchanged Change = "unchanged"
)

// Cause is whose doing a loss is.
type Cause string

// Causes. Of CauseSpec the safeguards take no notice: it was reviewed. CauseAdoption is that of what only
// a live definition has.
const (
	CauseCatalog  Cause = "catalog"
	CauseSpec     Cause = "spec"
	CauseAdoption Cause = "adoption"
)

// Selection is what happens to the artifact of one CatalogSelection.
type Selection struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Everything says that there is no CatalogSelection: two catalogs are compared as one that selects
	// everything, with the default safeguards, would see them.
	Everything bool `json:"everything,omitempty"`
	// Cluster is the directory of the cluster that the CatalogSelection is applied to, where that is known.
	Cluster string `json:"cluster,omitempty"`
	// File that the CatalogSelection is in, the newer one's if there is one.
	File string `json:"file,omitempty"`
	// Change of the artifact: added, removed, updated or unchanged. The other fields may say more
	// of one that is unchanged.
	Change Change `json:"change"`
	// SpecChanged says that the spec was edited, in what matters to the artifact.
	SpecChanged bool `json:"specChanged"`
	// From and To are the states; nil where there is none.
	From *State `json:"from,omitempty"`
	To   *State `json:"to,omitempty"`
	// Counts summarizes Applications.
	Counts Counts `json:"counts"`
	// Applications of which there is something to say, sorted by name.
	Applications []Application `json:"applications"`
	// Loosened is what the edit of the spec protects less.
	Loosened []Loosened `json:"loosened"`
	// Transient is what may be lost until Flux has pulled the newer catalogs; nil for nothing.
	Transient *Transient `json:"transient,omitempty"`
	// Held is what the safeguards hold; nil for nothing.
	Held *Held `json:"held,omitempty"`
	// Moves are applications that leave for another selection.
	Moves []Move `json:"moves"`
	// Live says that the cluster was looked at. Without, bypass and adoption are unknown.
	Live bool `json:"live"`
	// Bypassed are applications whose live definitions Flux leaves alone; only with Live.
	Bypassed []string `json:"bypassed"`
	// Replaced is what people set in live definitions and the publication replaces, by name; only with
	// Live.
	Replaced []Settings `json:"replaced"`
	// Keep are members of the spec, as YAML, that keep what is replaced; empty for nothing. It has live
	// values, which may be secret.
	Keep string `json:"keep,omitempty"`
	// Notes are for those who read the rest, in sentences.
	Notes []string `json:"notes"`
	// Unknown is what could not be compared, in sentences. Nothing else is compared then.
	Unknown []string `json:"unknown"`
	// Error says why one of the states could not be rendered. Nothing is compared then.
	Error string `json:"error,omitempty"`
}

// State is one of the two artifacts that are compared.
type State struct {
	// Revision of the artifact.
	Revision string `json:"revision"`
	// Available and Selected count applications.
	Available int `json:"available"`
	Selected  int `json:"selected"`
	// Sources in the order of the spec.
	Sources []Source `json:"sources"`
}

// Source is where a state comes from.
type Source struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Checksum of the source's revision, of an OCIRepository the digest of the manifest; empty when
	// it is unknown.
	Checksum string `json:"checksum,omitempty"`
}

// Counts are numbers of applications, if they do not say versions.
type Counts struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Deleted are those of Removed that Flux deletes.
	Deleted          int `json:"deleted"`
	Updated          int `json:"updated"`
	Unchanged        int `json:"unchanged"`
	VersionsAdded    int `json:"versionsAdded"`
	VersionsRemoved  int `json:"versionsRemoved"`
	VersionsReplaced int `json:"versionsReplaced"`
	// SourceChanges are those of VersionsReplaced that come from another chart, repository or commit.
	SourceChanges int `json:"sourceChanges"`
	Major         int `json:"major"`
	Minor         int `json:"minor"`
	Patch         int `json:"patch"`
	Deprecated    int `json:"deprecated"`
	Unmirrored    int `json:"unmirrored"`
	// Adopted are those of Updated and Unchanged that live already and enter the artifact.
	Adopted int `json:"adopted"`
}

// Application is what happens to one application.
type Application struct {
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Source is the name of the source that it comes from, of a removed one came from.
	Source string `json:"source"`
	// Change of the object: added, removed, updated or unchanged.
	Change Change `json:"change"`
	// Adopted says that the definition enters the artifact and lives in the cluster already: the live one is
	// what it is compared with.
	Adopted bool `json:"adopted,omitempty"`
	// Untouched says instead that Flux leaves the live definition alone.
	Untouched bool `json:"untouched,omitempty"`
	// Cause and Reason of a removal.
	Cause  Cause  `json:"cause,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Deleted says of a removal whether Flux deletes the live definition, where the Kustomization prunes;
	// otherwise it stays in the cluster, and nobody updates it any more. Nil where it moves.
	Deleted *bool `json:"deleted,omitempty"`
	// Versions that are added, removed or replaced; of an application that is added or removed, all
	// of them.
	Versions []Version `json:"versions"`
	// SourceChanged says that the definition, which has no versions, comes from another chart.
	SourceChanged bool `json:"sourceChanged,omitempty"`
	// Identity are the fields that change of those that decide which live releases are meant: these
	// are orphaned, and installed anew.
	Identity []Field `json:"identity,omitempty"`
	// Highest is how the highest version moves; nil when it does not.
	Highest *Step `json:"highest,omitempty"`
	// DefaultNamespace is the change of spec.defaultNamespace.name.
	DefaultNamespace *Field `json:"defaultNamespace,omitempty"`
	// Values is how the default values change; nil when they do not.
	Values *Values `json:"values,omitempty"`
	// Fields are the other changes of the object, and how many more there are.
	Fields        []Field `json:"fields"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
	// Deprecated is the message of an application that was not deprecated, or not there, before.
	Deprecated string `json:"deprecated,omitempty"`
	// Unmirrored are hosts to install it from that no mirror covers, and that it did not need before.
	Unmirrored []Host `json:"unmirrored"`
	// Unsearched says why its default values can no longer be searched for hosts.
	Unsearched string `json:"unsearched,omitempty"`
}

// Version is what happens to one entry of spec.versions.
type Version struct {
	Version string `json:"version"`
	// Change is added, removed or replaced.
	Change Change `json:"change"`
	// Cause of a removal.
	Cause Cause `json:"cause,omitempty"`
	// SourceChanged says that one that is replaced comes from another chart, repository or commit.
	SourceChanged bool `json:"sourceChanged,omitempty"`
	// Fields of the entry that changed, and how many more there are.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// Field is a change of one field. From and To are JSON, cut when long; empty for a field that is not
// there.
type Field struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Step is how the highest semantic version moves.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Kind is major, minor, patch or other (a pre-release, or build metadata) for a rise, and lower.
	Kind string `json:"kind"`
}

// Values is a change of default values.
type Values struct {
	// Field of the spec that has them, that had them when they are gone.
	Field string `json:"field"`
	// Added and Removed count lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is in the unified format without its header, and Omitted the number of its lines that are
	// left out.
	Diff    string `json:"diff"`
	Omitted int    `json:"omitted,omitempty"`
}

// Host is what something is fetched from.
type Host struct {
	Host string `json:"host"`
	// Kind is chart, git or image.
	Kind string `json:"kind"`
	Path string `json:"path"`
}

// Held is what the safeguards hold.
type Held struct {
	// Reasons as status.held has them.
	Reasons []v1alpha1.HeldReason `json:"reasons"`
	// Approved says that the selection approves all of it: it is published.
	Approved bool `json:"approved"`
	// Approve are the lines to add to spec.safeguards.approve.
	Approve []string `json:"approve"`
	// Render is the checksum of the newer artifact, whose approval is enough; absent where nothing
	// can be approved.
	Render string `json:"render,omitempty"`
	// BaseApprovals are entries of spec.safeguards.approve that name what has to be approved, and that
	// the older state has already: they are used up, or were reviewed with another change.
	BaseApprovals []string `json:"baseApprovals"`
}
