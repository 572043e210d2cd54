package selection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Rules that decide. These identifiers are stable; those of members of the API are their paths
// in its spec.
const (
	RuleSelected         = "selected"
	RuleShadowed         = "shadowed"
	RuleExclude          = "exclude"
	RuleSystem           = "system"
	RuleNames            = "limit.nameSelector"
	RuleTiers            = "limit.metadataSelector.tierRefs"
	RuleMatchLabels      = "limit.metadataSelector.matchLabels"
	RuleMatchExpressions = "limit.metadataSelector.matchExpressions"
	RuleLists            = "limit.catalogRefs"
	RuleExpression       = "limit.expression"
	RuleVersions         = "versions"
)

// The labels by which KKP marks the applications that its own operator reconciles, and its
// application-catalog-manager those that it writes versions to.
const (
	PlatformLabel = "apps.kubermatic.k8c.io/managed-by"
	ManagerLabel  = "applicationcatalog.k8c.io/managed-by"
	systemValue   = "kkp"
)

// ofSystem returns who reconciles a definition and the label that says so, empty for nobody.
func ofSystem(labels map[string]string) (who, label string) {
	switch {
	case strings.EqualFold(labels[PlatformLabel], systemValue):
		return "KKP's operator", PlatformLabel + ": " + labels[PlatformLabel]
	case labels[ManagerLabel] != "":
		return "KKP's application-catalog-manager", ManagerLabel + ": " + labels[ManagerLabel]
	}
	return "", ""
}

// rule refuses applications.
type rule struct {
	// id is the rule's stable identifier.
	id string
	// limits is true for a member of limit that is set.
	limits bool
	// refuse returns why the application of the decision is out, empty when the rule has
	// nothing against it. It may narrow the decision's versions.
	refuse func(context.Context, *Decision) (string, error)
}

// sure is the refuse of a rule that cannot fail.
func sure(refuse func(*Decision) string) func(context.Context, *Decision) (string, error) {
	return func(_ context.Context, decision *Decision) (string, error) {
		return refuse(decision), nil
	}
}

// newRules returns the rules in the order in which they decide. Exclude comes first, because it
// wins over limit; the members of limit go from the most specific to the widest, so that the
// reason is the one that its reader is likeliest to change; the expression is the last of them,
// because it costs most. Versions are narrowed only of what is in otherwise.
func newRules(criteria Criteria, listed map[string]bool) []rule {
	return []rule{
		excluded(criteria.Exclude),
		system(criteria.Names),
		named(criteria.Names),
		tiered(criteria.Tiers),
		labelled(RuleMatchLabels, criteria.Labels, isEquality),
		labelled(RuleMatchExpressions, criteria.Labels, isExpression),
		inLists(criteria.Lists, listed),
		expressed(criteria.Expression),
		versioned(criteria.Versions),
	}
}

func excluded(names []string) rule {
	listed := set(names)
	return rule{id: RuleExclude, refuse: sure(func(decision *Decision) string {
		if !listed[decision.Application.Name] {
			return ""
		}
		return "exclude names it"
	})}
}

// system refuses what KKP itself would fight over, unless the selection names it.
func system(names []string) rule {
	listed := set(names)
	return rule{id: RuleSystem, refuse: sure(func(decision *Decision) string {
		application := decision.Application
		who, label := ofSystem(application.Labels)
		if who == "" || listed[application.Name] {
			return ""
		}
		return fmt.Sprintf("%s reconciles it (label %s); to include it on purpose, name it in limit.nameSelector", who, excerpt.Of(label))
	})}
}

func named(names []string) rule {
	listed := set(names)
	return rule{id: RuleNames, limits: len(names) > 0, refuse: sure(func(decision *Decision) string {
		if len(listed) == 0 || listed[decision.Application.Name] {
			return ""
		}
		return "limit.nameSelector does not name it"
	})}
}

func tiered(tiers []string) rule {
	listed := set(tiers)
	return rule{id: RuleTiers, limits: len(tiers) > 0, refuse: sure(func(decision *Decision) string {
		tier := decision.Application.Metadata.Tier
		switch {
		case len(listed) == 0 || listed[tier]:
			return ""
		case tier == "":
			return "it has no tier, and limit.metadataSelector.tierRefs wants " + anyOf(tiers)
		default:
			return fmt.Sprintf("its tier is %q, and limit.metadataSelector.tierRefs wants %s", excerpt.Of(tier), anyOf(tiers))
		}
	})}
}

// isEquality tells what metav1.LabelSelectorAsSelector makes of matchLabels from what it makes
// of matchExpressions.
func isEquality(requirement labels.Requirement) bool {
	operator := requirement.Operator()
	return operator == selection.Equals || operator == selection.DoubleEquals
}

func isExpression(requirement labels.Requirement) bool {
	return !isEquality(requirement)
}

// labelled holds the requirements of one of the two members that a selector is made of. A selector
// that can match nothing refuses everything.
func labelled(id string, selector labels.Selector, of func(labels.Requirement) bool) rule {
	if selector == nil {
		selector = labels.Everything()
	}
	all, selectable := selector.Requirements()
	var own labels.Requirements
	for _, requirement := range all {
		if of(requirement) {
			own = append(own, requirement)
		}
	}
	return rule{id: id, limits: len(own) > 0, refuse: sure(func(decision *Decision) string {
		present := labels.Set(decision.Application.Metadata.Labels)
		if !selectable {
			return id + " matches nothing"
		}
		for _, requirement := range own {
			if !requirement.Matches(present) {
				return unmatched(id, requirement, present)
			}
		}
		return ""
	})}
}

func unmatched(id string, requirement labels.Requirement, present labels.Set) string {
	key, wanted := requirement.Key(), excerpt.Of(requirement.String())
	value, has := present[key]
	if !has {
		return fmt.Sprintf("it has no label %q, and %s wants %s", key, id, wanted)
	}
	return fmt.Sprintf("its label %q is %q, and %s wants %s", key, value, id, wanted)
}

func inLists(names []string, listed map[string]bool) rule {
	return rule{id: RuleLists, limits: len(names) > 0, refuse: sure(func(decision *Decision) string {
		if len(names) == 0 || listed[decision.Application.Name] {
			return ""
		}
		return "limit.catalogRefs wants it in the list " + anyOf(names)
	})}
}

func expressed(expression *Expression) rule {
	return rule{id: RuleExpression, limits: expression != nil, refuse: func(ctx context.Context, decision *Decision) (string, error) {
		if expression == nil {
			return "", nil
		}
		holds, err := expression.holds(ctx, decision.Application, decision.Source)
		if holds || err != nil {
			return "", err
		}
		return "limit.expression is false for it", nil
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
