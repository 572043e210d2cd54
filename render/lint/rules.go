// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/render/lint/kkp"
	"github.com/winnow-dev/winnow/render/lint/olm"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/lint/schema"
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
