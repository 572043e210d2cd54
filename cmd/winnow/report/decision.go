// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Decision is the part of a decision that list and explain print.
type Decision struct {
	Name       string   `json:"name"`
	Source     string   `json:"source"`
	Selected   bool     `json:"selected"`
	Rule       string   `json:"rule"`
	Reason     string   `json:"reason"`
	Tier       string   `json:"tier,omitempty"`
	Versions   []string `json:"versions"`
	Dropped    []string `json:"dropped"`
	Deprecated string   `json:"deprecated,omitempty"`
	// Facts on all versions, also on dropped ones.
	Facts []VersionFacts `json:"facts,omitempty"`
	// Merged are the versions among Versions that later sources add.
	Merged []mergedVersions `json:"merged,omitempty"`
	// Package has the channels of a package of operators that stay, and Repairs are entries of them that stay, or go,
	// against the rules for versions.
	Package *Package `json:"package,omitempty"`
	Repairs []string `json:"repairs,omitempty"`
}

type mergedVersions struct {
	Source   string   `json:"source"`
	Versions []string `json:"versions"`
}

func (m mergedVersions) String() string { return strings.Join(m.Versions, ", ") + " of " + m.Source }

// MergedColumn lists merged versions with their sources.
func MergedColumn(all []mergedVersions) string {
	texts := each.Map(all, mergedVersions.String)
	return output.OrDash(strings.Join(texts, "; "))
}

// Summarize returns the part of a decision that is printed.
func Summarize(d selection.Decision) Decision {
	s := Decision{
		Name: d.Application.Name, Source: d.Source, Selected: d.Selected, Rule: d.Rule, Reason: d.Reason,
		Tier: d.Application.Metadata.Tier, Deprecated: d.Application.Metadata.Deprecated,
		Versions: Listed(nil), Dropped: Listed(nil), Facts: FactsOf(d.Application),
		Package: summarizeKept(d), Repairs: d.Repairs,
	}
	switch {
	case d.Selected:
		s.Versions, s.Dropped = Listed(d.Versions), Listed(d.Dropped())
		s.Merged = each.Map(d.Added(), func(m catalog.Merged) mergedVersions { return mergedVersions{m.Source, m.Versions} })
	case d.Rule == selection.RuleVersions, d.Rule == selection.RulePlatform:
		s.Dropped = Listed(d.Application.Versions)
	}
	return s
}

// Listed returns a copy that is never nil: JSON would print nil as null.
func Listed(values []string) []string { return append([]string{}, values...) }

// NamesOf returns the names of all applications.
func NamesOf(result selection.Result) []string {
	return each.Map(result.Decisions, func(decision selection.Decision) string { return decision.Application.Name })
}

// UnknownApplication is the error for an application that no source has, with similar names.
func UnknownApplication(name string, known []string) error {
	return UnknownName(fmt.Errorf("no source has %q", name), name, known)
}

// UnknownName returns an error about an unknown name as a finding, with the known names that resemble it.
func UnknownName(err error, name string, known []string) error {
	if near := spelling.Nearest(name, known); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return output.Finding(err)
}
