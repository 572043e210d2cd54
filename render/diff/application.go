// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"strings"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/safeguard"
)

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
	// Schema are the changes of the schema of its values that may refuse values, or change their defaults.
	Schema []SchemaChange `json:"schema,omitempty"`
	// Facts are the first changes of what two catalogs, compared without a selection, state about it: selections choose by
	// them.
	Facts []Field `json:"facts,omitempty"`
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
	// Installations are the instances of the selection that KKP has installed in a removed version, and uninstalls with it.
	Installations []string `json:"installations,omitempty"`
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

// Key returns the key of its definition.
func (a Application) Key() safeguard.Key {
	return safeguard.Definition{APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name}.Key()
}

// OfKKP reports whether KKP installs the application, and uninstalls it when its definition is deleted.
func (a Application) OfKKP() bool { return strings.HasPrefix(a.APIVersion, kinds.KKPGroup+"/") }

// IsPackage reports whether the application is a package of operators, which no cluster has a definition of.
func (a Application) IsPackage() bool { return a.Kind == catalog.PackageKind }

// Host is a host that an installation fetches from.
type Host struct {
	Host string `json:"host"`
	// Kind is chart, git or image.
	Kind string `json:"kind"`
	Path string `json:"path"`
}

// Counts are numbers of applications, except those that name versions.
type Counts struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Deleted counts the Removed ones that Flux deletes.
	Deleted          int `json:"deleted"`
	Updated          int `json:"updated"`
	Unchanged        int `json:"unchanged"`
	VersionsAdded    int `json:"versionsAdded"`
	VersionsRemoved  int `json:"versionsRemoved"`
	VersionsReplaced int `json:"versionsReplaced"`
	// SourceChanges counts the VersionsReplaced that come from another chart, repository or commit.
	SourceChanges int `json:"sourceChanges"`
	Major         int `json:"major"`
	Minor         int `json:"minor"`
	Patch         int `json:"patch"`
	Deprecated    int `json:"deprecated"`
	// VersionsDeprecated counts newly deprecated versions, also of applications that are added.
	VersionsDeprecated int `json:"versionsDeprecated,omitempty"`
	Unmirrored         int `json:"unmirrored"`
	// Adopted counts the Updated and Unchanged ones that enter the artifact and live in the cluster already.
	Adopted int `json:"adopted"`
}

// Add counts an application.
func (c *Counts) Add(a Application) {
	switch a.Change {
	case Added:
		c.Added++
	case Removed:
		c.Removed++
		if a.Deleted != nil && *a.Deleted {
			c.Deleted++
		}
	case Updated:
		c.Updated++
	default:
		c.Unchanged++
	}
	c.versions(a)
	if a.Adopted {
		c.Adopted++
	}
	if a.Deprecated != "" {
		c.Deprecated++
	}
	c.VersionsDeprecated += len(a.DeprecatedVersions)
	if len(a.Unmirrored) > 0 || a.Unsearched != "" {
		c.Unmirrored++
	}
}

// versions counts the versions of applications that stay.
func (c *Counts) versions(a Application) {
	if a.Change != Updated {
		return
	}
	for _, v := range a.Versions {
		switch v.Change {
		case Added:
			c.VersionsAdded++
		case Removed:
			c.VersionsRemoved++
		case Replaced:
			c.VersionsReplaced++
		}
		if v.SourceChanged {
			c.SourceChanges++
		}
	}
	if a.Highest == nil {
		return
	}
	switch a.Highest.Kind {
	case StepMajor:
		c.Major++
	case StepMinor:
		c.Minor++
	case StepPatch:
		c.Patch++
	}
}

// HasFacts reports whether there are changes of what selections choose by.
func (a Application) HasFacts() bool { return len(a.Facts) > 0 }
