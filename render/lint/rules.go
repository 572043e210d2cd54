// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/render/lint/kkp"
	"github.com/winnow-dev/winnow/render/lint/olm"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/lint/schema"
	"github.com/winnow-dev/winnow/render/selectionrule"
)

// Rules returns all rules, sorted by identifier.
func Rules() []rules.Rule {
	all := slices.Concat(kkp.Rules(), olm.Rules(), loadingRules(), schema.Rules(), rules.Of(corpusRules()), []rules.Rule{
		misplacedListRule(), ignoreRule(), rules.New(functionRule, rules.Warning, "functions have what people need to know, once, and are pinned"),
	})
	slices.SortFunc(all, func(a, b rules.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// ignoreRule is the rule of the comments that ignore rules.
func ignoreRule() rules.Rule {
	return rules.New("lint/ignore", rules.Warning, "a comment winnow:ignore names a rule")
}

// SelectionRules returns the rules of selections, sorted by identifier. Run does not find what breaks them: it knows catalogs only.
func SelectionRules() []rules.Rule {
	return []rules.Rule{
		rules.New(selectionrule.Dependency, rules.Warning, "the selected packages of OLM have what they require of the catalogs"),
		rules.New(selectionrule.Monitoring, rules.Warning, "what KKP monitors user clusters with is neither left out nor lowered"),
		rules.New(selectionrule.MovingSource, rules.Warning, "instances with a range, or the default version, have a pinned source"),
		rules.New(selectionrule.NoWait, rules.Warning, "the Kustomization that applies instances has wait: true"),
		rules.New(selectionrule.Note, rules.Warning, "OLM, of any release, installs what instances of packages ask for"),
		rules.New(selectionrule.Patch, rules.Warning, "patches leave all versions to the definitions"),
		rules.New(selectionrule.ReadersDiffer, rules.Warning, "all readers of the selection, and of objects of Flux beside it, read the same values"),
		rules.New(selectionrule.Reference, rules.Warning, "the sources and consumers beside the selection have the names that refer to them"),
		rules.New(selectionrule.Renamed, rules.Warning, "the Kustomization that applies instances leaves their names and namespaces alone"),
		rules.New(selectionrule.Unbuilt, rules.Warning, "no kustomization.yaml beside the selection changes it"),
		rules.New(selectionrule.Unmatched, rules.Warning, "every name, tier, list and label of the selection is in its catalogs"),
	}
}
