// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// What is decided: on an application, by which rule, and on all of them.

// Identifiers of the rules. They are stable; for members of the API they are the paths in its spec.
const (
	RuleSelected         = "selected"
	RuleShadowed         = "shadowed"
	RuleSourceLimit      = "sources[].limit"
	RuleExclude          = "exclude"
	RuleSystem           = "system"
	RuleNames            = "limit.nameSelector"
	RuleTiers            = "limit.metadataSelector.tierRefs"
	RuleMatchLabels      = "limit.metadataSelector.matchLabels"
	RuleMatchExpressions = "limit.metadataSelector.matchExpressions"
	RuleLists            = "limit.catalogRefs"
	RuleExpression       = "limit.expression"
	RulePlatform         = "platform"
	RuleVersions         = "versions"
)

// Decision is the decision on an application of a source, with its reason.
type Decision struct {
	// Application that was decided on, with the versions that later sources add to it.
	Application *catalog.Application
	// Source is the name of the source that has it, and Index its place among the sources.
	Source string
	Index  int
	// SourceDigest is the digest of the source.
	SourceDigest string
	// Selected is true for a selected application.
	Selected bool
	// Versions that stay, in the document's order; for an application that is not selected, the
	// versions of the catalog. They must not be modified.
	Versions []string
	// Kept is the content of a selected application that is no object, with the versions that stay. Repairs say, for
	// people, which versions stay or go against the rules.
	Kept    catalog.Content
	Repairs []string
	// Unmet are the versions that the platform drops, in the document's order.
	Unmet []Unmet
	// Rule is the identifier of the rule that decided.
	Rule string
	// Reason describes why the rule decided so.
	Reason string
}

// limited is 1 for an application that the limit of its source refuses, and else 0.
func (d Decision) limited() int {
	if d.Rule == RuleSourceLimit {
		return 1
	}
	return 0
}

// Result has the decisions of Select.
type Result struct {
	// Decisions on every application of every source, sorted by name. Of one name, those that the limits of
	// sources refuse come last, and the first of the others decides; both are in the order of the sources.
	Decisions []Decision
	// Available is the number of different names in all sources, without those that the limits of sources
	// refuse everywhere.
	Available int
	// Selected is the number of selected applications.
	Selected int
	// Excluded is the number of available names that are not selected: Available - Selected.
	Excluded int
	// Shadowed is the number of applications that an earlier source has as well.
	Shadowed int
	// Deprecated is the number of selected applications that are deprecated, DeprecatedVersions the number
	// of versions that stay and are deprecated.
	Deprecated, DeprecatedVersions int
	// Undecided is why an application without a decision is not there: empty where no source has it.
	Undecided string
}

// Applications returns the decisions on the selected applications, sorted by name, which is unique
// among them.
func (r Result) Applications() []Decision {
	return each.Where(r.Decisions, func(decision Decision) bool { return decision.Selected })
}

// count adds a decision to the numbers.
func (r *Result) count(decision *Decision) {
	switch decision.Rule {
	case RuleSelected:
		r.Selected++
		if decision.Application.Metadata.Deprecated != "" {
			r.Deprecated++
		}
		for _, version := range decision.Versions {
			if decision.Application.Metadata.Versions.Of(version).Deprecated != "" {
				r.DeprecatedVersions++
			}
		}
	case RuleShadowed:
		r.Shadowed++
	}
}

// Dropped returns the versions of the catalog that the decision does not keep, in the document's order.
func (d Decision) Dropped() []string {
	return each.Where(d.Application.Versions, func(version string) bool { return !slices.Contains(d.Versions, version) })
}

// Added returns the versions that later sources add to the application and that stay, by source.
func (d Decision) Added() []catalog.Merged {
	var all []catalog.Merged
	for _, merged := range d.Application.Merged {
		merged.Versions = slices.DeleteFunc(slices.Clone(merged.Versions), func(v string) bool { return !slices.Contains(d.Versions, v) })
		if len(merged.Versions) > 0 {
			all = append(all, merged)
		}
	}
	return all
}
