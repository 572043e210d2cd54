package main

import "github.com/winnow-dev/winnow/render/selection"

// decisionSummary is the part of a decision that list and explain print.
type decisionSummary struct {
	Name       string   `json:"name"`
	Source     string   `json:"source"`
	Selected   bool     `json:"selected"`
	Rule       string   `json:"rule"`
	Reason     string   `json:"reason"`
	Tier       string   `json:"tier,omitempty"`
	Versions   []string `json:"versions"`
	Dropped    []string `json:"dropped"`
	Deprecated string   `json:"deprecated,omitempty"`
	// Facts on the versions that stay and on those that do not.
	Facts []versionFacts `json:"facts,omitempty"`
}

func summarize(d selection.Decision) decisionSummary {
	s := decisionSummary{
		Name: d.Application.Name, Source: d.Source, Selected: d.Selected, Rule: d.Rule, Reason: d.Reason,
		Tier: d.Application.Metadata.Tier, Deprecated: d.Application.Metadata.Deprecated,
		Versions: listed(nil), Dropped: listed(nil), Facts: factsOf(d.Application),
	}
	switch {
	case d.Selected:
		s.Versions, s.Dropped = listed(d.Versions), listed(d.Dropped())
	case d.Rule == selection.RuleVersions, d.Rule == selection.RulePlatform:
		s.Dropped = listed(d.Application.Versions)
	}
	return s
}

// listed returns a copy that is never nil, which JSON would print as null.
func listed(values []string) []string { return append([]string{}, values...) }
