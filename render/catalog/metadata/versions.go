// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// VersionsKey is the key of a metadata.yaml with the facts on versions. Metadata.Extra has it as well: before it had a
// meaning, expressions could read it.
const VersionsKey = "versions"

// MaxVersions bounds the versions of an application, merged ones included: everything that looks at versions looks at all
// of them.
const MaxVersions = 1000

const (
	// maxChannels and maxRequirements of one version.
	maxChannels     = 32
	maxRequirements = 16
	// maxChannel bounds a channel in characters, as the API does.
	maxChannel = 63
	// maxRequirement bounds a range in bytes, as the API does for a constraint of a selection.
	maxRequirement = 256
)

// Components of a platform that a selection can list.
const (
	ComponentKubernetes = "kubernetes"
	ComponentKKP        = "kkp"
)

// Components returns all of them.
func Components() []string { return []string{ComponentKKP, ComponentKubernetes} }

// Version is what a catalog states about one version.
type Version struct {
	// Name of the version, as in spec.versions.
	Name string
	// Number is the semantic version, where it is not the name; otherwise empty.
	Number string
	// Label is what people see in place of the name; empty where it is the name.
	Label string
	// Channels that have the version, in the order of the file.
	Channels []string
	// Deprecated is the message of a deprecated version, otherwise empty.
	Deprecated string
	// Requires are sorted by component, which occurs once.
	Requires []Requirement
	// LockedValues of this version, besides the locked values of the application.
	LockedValues []string
}

// Versions are sorted by name.
type Versions []Version

// Of returns the facts on a version; those on an unknown one are empty.
func (v Versions) Of(name string) Version {
	i, known := slices.BinarySearchFunc(v, name, func(one Version, name string) int { return cmp.Compare(one.Name, name) })
	if !known {
		return Version{Name: name}
	}
	return v[i]
}

// Numbered returns the semantic version, or what should be one.
func (v Version) Numbered() string { return cmp.Or(v.Number, v.Name) }

// Requirement is a condition on the platform that a version runs on.
type Requirement struct {
	// Component of the platform, a DNS-1123 label, which need not be one of Components.
	Component string
	// Constraint is a valid range of semantic versions of the component.
	Constraint string
}

// String returns "kubernetes >=1.31".
func (r Requirement) String() string { return r.Component + " " + r.Constraint }

// parseVersions returns the facts on versions. A version that the application does not have is no violation: an
// author who removes a version may forget it here, and lint reports it.
func parseVersions(member yamlnode.Entry, found *violation.Findings) Versions {
	if !document.IsMapping(member.Value, member.Name, found) {
		return nil
	}
	entries := yamlnode.Entries(member.Value)
	if n := len(entries); n > MaxVersions {
		found.Add(member.Line, "%s has %d entries, more than %d", member.Name, n, MaxVersions)
		return nil
	}
	checkVersionKeys(member.Value, found)
	versions := make(Versions, 0, len(entries))
	for _, entry := range entries {
		versions = append(versions, parseVersion(entry, found))
	}
	slices.SortStableFunc(versions, func(a, b Version) int { return cmp.Compare(a.Name, b.Name) })
	return versions
}

// checkVersionKeys refuses numbers: as a key, 1.10 is the number 1.1, which may be another version. It refuses merge keys
// because they may bring numbers.
func checkVersionKeys(mapping *yaml.Node, found *violation.Findings) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		switch key := yamlnode.Resolve(mapping.Content[i]); key.ShortTag() {
		case "!!int", "!!float":
			found.Add(mapping.Content[i].Line, "%s: the version %s must be a string: put it in quotes", VersionsKey, excerpt.Quoted(key.Value))
		case "!!merge":
			found.Add(mapping.Content[i].Line, "%s must not have merge keys: write out the versions", VersionsKey)
		}
	}
}

func parseVersion(entry yamlnode.Entry, found *violation.Findings) Version {
	version := Version{Name: entry.Name}
	at := VersionsKey + "[" + excerpt.Quoted(entry.Name) + "]"
	if !document.IsMapping(entry.Value, at, found) {
		return version
	}
	for _, member := range yamlnode.Entries(entry.Value) {
		key := member.Name
		member.Name = at + "." + key
		switch key {
		case "channels":
			version.Channels = parseChannels(member, found)
		case "deprecated":
			version.Deprecated = parseDeprecated(member, "the version", found)
		case "requires":
			version.Requires = parseRequirements(member, found)
		case LockedKey:
			version.LockedValues = parseLocked(member, found)
		}
	}
	return version
}

func parseChannels(member yamlnode.Entry, found *violation.Findings) []string {
	return parseTexts(member, maxChannels, func(channel string) string {
		switch {
		case channel == "":
			return " has an empty string"
		case utf8.RuneCountInString(channel) > maxChannel:
			return fmt.Sprintf(": %s is longer than %d characters, which no selection can name", excerpt.Quoted(channel), maxChannel)
		}
		return ""
	}, found)
}

func parseRequirements(member yamlnode.Entry, found *violation.Findings) []Requirement {
	if !document.IsMapping(member.Value, member.Name, found) {
		return nil
	}
	entries := yamlnode.Entries(member.Value)
	if n := len(entries); n > maxRequirements {
		found.Add(member.Line, "%s has %d entries, more than %d", member.Name, n, maxRequirements)
		return nil
	}
	requires := make([]Requirement, 0, len(entries))
	for _, entry := range entries {
		component := entry.Name
		if problems := validation.IsDNS1123Label(component); len(problems) > 0 {
			found.Add(entry.Line, "%s: the component %s is not valid: %s", member.Name, excerpt.Quoted(component), problems[0])
		}
		entry.Name = member.Name + "[" + excerpt.Quoted(component) + "]"
		requires = append(requires, Requirement{component, parseConstraint(entry, found)})
	}
	slices.SortFunc(requires, func(a, b Requirement) int { return cmp.Compare(a.Component, b.Component) })
	return requires
}

func parseConstraint(entry yamlnode.Entry, found *violation.Findings) string {
	constraint, ok := yamlnode.Text(entry.Value)
	line := entry.Value.Line
	switch {
	case !ok && entry.Value.Kind == yaml.ScalarNode && (entry.Value.ShortTag() == "!!float" || entry.Value.ShortTag() == "!!int"):
		found.Add(line, "%s must be a string: put %s in quotes", entry.Name, excerpt.Quoted(entry.Value.Value))
	case !ok:
		found.Add(line, "%s must be a string, not %s", entry.Name, yamlnode.Describe(entry.Value))
	case len(constraint) > maxRequirement:
		found.Add(line, "%s has %d bytes, more than %d", entry.Name, len(constraint), maxRequirement)
	default:
		if _, err := semver.NewConstraint(constraint); err != nil || constraint == "" {
			found.Add(line, "%s must be a range of versions, such as >=1.31, not %s", entry.Name, excerpt.Quoted(constraint))
		}
	}
	return constraint
}

// parseDeprecated returns the message of what is deprecated.
func parseDeprecated(member yamlnode.Entry, what string, found *violation.Findings) string {
	if member.Value.Kind == yaml.ScalarNode && isBooleanLike(member.Value) {
		found.Add(member.Value.Line, "%s must be a message that says what to use instead, not a boolean; leave it out when %s is not deprecated", member.Name, what)
		return ""
	}
	return document.Text(member, found)
}

// isBooleanLike reports whether a scalar is a boolean, or a text that other readers or people take for one.
func isBooleanLike(scalar *yaml.Node) bool {
	words := []string{"true", "false", "yes", "no", "on", "off", "y", "n"}
	return scalar.ShortTag() == "!!bool" || slices.Contains(words, strings.ToLower(strings.TrimSpace(scalar.Value)))
}
