package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
)

// rule refuses applications.
type rule struct {
	// id is the rule's stable identifier.
	id string
	// limits is true for a member of limit that is set.
	limits bool
	// refuse returns why the application is out, empty when the rule has nothing against it.
	refuse func(*catalog.Application) string
}

// newRules returns the rules in the order in which they decide. Exclude comes first, because it
// wins over limit; the members of limit go from the most specific to the widest, so that the
// reason is the one that its reader is likeliest to change.
func newRules(criteria Criteria) []rule {
	return []rule{
		excluded(criteria.Exclude),
		named(criteria.Names),
		tiered(criteria.Tiers),
	}
}

func excluded(names []string) rule {
	listed := set(names)
	return rule{id: RuleExclude, refuse: func(application *catalog.Application) string {
		if !listed[application.Name] {
			return ""
		}
		return "exclude names it"
	}}
}

func named(names []string) rule {
	listed := set(names)
	return rule{id: RuleNames, limits: len(names) > 0, refuse: func(application *catalog.Application) string {
		if len(listed) == 0 || listed[application.Name] {
			return ""
		}
		return "limit.nameSelector does not name it"
	}}
}

func tiered(tiers []string) rule {
	listed := set(tiers)
	return rule{id: RuleTiers, limits: len(tiers) > 0, refuse: func(application *catalog.Application) string {
		tier := application.Metadata.Tier
		switch {
		case len(listed) == 0 || listed[tier]:
			return ""
		case tier == "":
			return "it has no tier, and limit.metadataSelector.tierRefs wants " + anyOf(tiers)
		default:
			return fmt.Sprintf("its tier is %q, and limit.metadataSelector.tierRefs wants %s", tier, anyOf(tiers))
		}
	}}
}

// met says why an application that no rule refuses is in.
func met(rules []rule) string {
	var limits []string
	for _, rule := range rules {
		if rule.limits {
			limits = append(limits, rule.id)
		}
	}
	if len(limits) == 0 {
		return "nothing limits the selection"
	}
	return "it meets " + strings.Join(limits, " and ")
}

func set(values []string) map[string]bool {
	listed := make(map[string]bool, len(values))
	for _, value := range values {
		listed[value] = true
	}
	return listed
}

// anyOf lists values in an order that does not depend on the spec's, which has no meaning.
func anyOf(values []string) string {
	var quoted []string
	for _, value := range slices.Compact(slices.Sorted(slices.Values(values))) {
		quoted = append(quoted, fmt.Sprintf("%q", value))
	}
	return strings.Join(quoted, " or ")
}
