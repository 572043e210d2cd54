package main

import (
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
)

// versionFacts is what a catalog says about one version.
type versionFacts struct {
	Version string `json:"version"`
	// Number is the semantic version, where it is not the name.
	Number     string   `json:"number,omitempty"`
	Channels   []string `json:"channels,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
	// Requires maps components of the platform to ranges of versions.
	Requires map[string]string `json:"requires,omitempty"`

	requires []string // sorted, as in a sentence
}

// factsOf returns the facts on the versions of an application, in their order, of those that have any.
func factsOf(a *catalog.Application) []versionFacts {
	var all []versionFacts
	for _, version := range a.Versions {
		facts := a.Metadata.Versions.Of(version)
		f := versionFacts{Version: version, Number: facts.Label, Channels: facts.Channels, Deprecated: facts.Deprecated}
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

// words describes the facts. With brief, it leaves out the message of a deprecation.
func (f versionFacts) words(brief bool) string {
	var parts []string
	if len(f.Channels) > 0 {
		parts = append(parts, "channels "+strings.Join(f.Channels, ", "))
	}
	if len(f.requires) > 0 {
		parts = append(parts, "requires "+strings.Join(f.requires, ", "))
	}
	switch {
	case f.Deprecated == "":
	case brief:
		parts = append(parts, "deprecated")
	default:
		parts = append(parts, "deprecated: "+f.Deprecated)
	}
	return strings.Join(parts, "; ")
}

// withFacts returns the versions, uncut, each with its facts in brackets.
func withFacts(versions []string, facts []versionFacts) string {
	words := make(map[string]string, len(facts))
	for _, f := range facts {
		if text := f.words(true); text != "" {
			words[f.Version] = " (" + text + ")"
		}
	}
	annotated := make([]string, len(versions))
	for i, label := range labelsOf(versions, facts) {
		annotated[i] = label + words[versions[i]]
	}
	return allVersions(annotated)
}
