// SPDX-License-Identifier: Apache-2.0

package lint

import "github.com/winnow-dev/winnow/render/lint/rules"

// Rules of a CatalogSelection, and of what stands beside one with instances. Run does not find them: it knows catalogs
// only.
const (
	// DependencyRule: a package requires what the catalogs have and the selection leaves out.
	DependencyRule = "selection/dependency"
	// MovingSourceRule: the versions of instances follow a source that moves.
	MovingSourceRule = "selection/moving-source"
	// NoWaitRule: the Kustomization does not report that a release has failed.
	NoWaitRule = "selection/no-wait"
	// NoteRule: an instance does not work everywhere.
	NoteRule = "selection/note"
	// ReferenceRule: a name of a source, or of the artifact, is almost one beside the selection.
	ReferenceRule = "selection/reference"
	// RenamedRule: the Kustomization renames or moves the objects of instances.
	RenamedRule = "selection/renamed"
	// UnbuiltRule: a kustomization.yaml that changes the selection is not evaluated.
	UnbuiltRule = "selection/unbuilt"
	// UnmatchedRule: a name in the selection matches nothing in its catalogs.
	UnmatchedRule = "selection/unmatched"
)

// SelectionRules returns the rules of selections, sorted by identifier.
func SelectionRules() []rules.Rule {
	return []rules.Rule{
		rules.New(DependencyRule, rules.Warning, "the selected packages of OLM have what they require of the catalogs"),
		rules.New(MovingSourceRule, rules.Warning, "instances with a range, or the default version, have a pinned source"),
		rules.New(NoWaitRule, rules.Warning, "the Kustomization that applies instances has wait: true"),
		rules.New(NoteRule, rules.Warning, "OLM, of any release, installs what instances of packages ask for"),
		rules.New(ReferenceRule, rules.Warning, "the sources and consumers beside the selection have the names that refer to them"),
		rules.New(RenamedRule, rules.Warning, "the Kustomization that applies instances leaves their names and namespaces alone"),
		rules.New(UnbuiltRule, rules.Warning, "no kustomization.yaml beside the selection changes it"),
		rules.New(UnmatchedRule, rules.Warning, "every name, tier, list and label of the selection is in its catalogs"),
	}
}
