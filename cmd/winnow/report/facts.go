// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// VersionFacts is what a catalog states about one version.
type VersionFacts struct {
	Version string `json:"version"`
	// Number is the semantic version, where it is not the name.
	Number     string   `json:"number,omitempty"`
	Channels   []string `json:"channels,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
	// Requires maps components of the platform to ranges of versions.
	Requires map[string]string `json:"requires,omitempty"`

	requires []string // sorted, as in a sentence
}

// FactsOf returns the facts on the versions of an application, in the order of the versions, without versions that have
// none.
func FactsOf(a *catalog.Application) []VersionFacts {
	var all []VersionFacts
	for _, version := range a.Versions {
		facts := a.Metadata.Versions.Of(version)
		f := VersionFacts{Version: version, Number: facts.Label, Channels: facts.Channels, Deprecated: facts.Deprecated}
		for _, requirement := range facts.Requires {
			if f.Requires == nil {
				f.Requires = map[string]string{}
			}
			f.Requires[requirement.Component] = requirement.Constraint
			f.requires = append(f.requires, requirement.String())
		}
		if len(f.Channels) > 0 || f.Deprecated != "" || f.Requires != nil || f.Number != "" {
			all = append(all, f)
		}
	}
	return all
}

// Words describes the facts. With brief, it leaves out the message of a deprecation.
func (f VersionFacts) Words(brief bool) string {
	var parts plaintext.Texts
	parts.Add(len(f.Channels) > 0, "channels %s", strings.Join(f.Channels, ", "))
	parts.Add(len(f.requires) > 0, "requires %s", strings.Join(f.requires, ", "))
	switch {
	case f.Deprecated == "":
	case brief:
		parts = append(parts, "deprecated")
	default:
		parts = append(parts, "deprecated: "+f.Deprecated)
	}
	return strings.Join(parts, "; ")
}

// WithFacts returns the versions, uncut, each with its facts in brackets.
func WithFacts(versions []string, facts []VersionFacts) string {
	known := byVersion(facts)
	annotated := LabelsOf(versions, facts)
	for i, version := range versions {
		if text := known[version].Words(true); text != "" {
			annotated[i] += " (" + text + ")"
		}
	}
	return output.OrDash(strings.Join(annotated, ", "))
}

// LabelsOf returns the texts that people see for versions.
func LabelsOf(versions []string, facts []VersionFacts) []string {
	known := byVersion(facts)
	return each.Map(versions, func(version string) string { return cmp.Or(known[version].Number, version) })
}

func byVersion(facts []VersionFacts) map[string]VersionFacts {
	return each.By(facts, func(f VersionFacts) string { return f.Version })
}
