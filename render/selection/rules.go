// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// The rules, each a small predicate. newRules has their order.

// systemValue is the value of reserved.PlatformLabel on definitions that KKP's operator reconciles.
const systemValue = "kkp"

// systemReconciler returns the component of KKP that reconciles a definition, or writes versions to it, and its mark;
// empty if none does.
func systemReconciler(application *catalog.Application) (component, mark string) {
	if value := application.Labels[reserved.PlatformLabel]; strings.EqualFold(value, systemValue) {
		return "KKP's operator", "label " + reserved.PlatformLabel + ": " + value
	}
	if mark := reserved.ManagerMark(application.Labels, application.Annotations); mark != "" {
		return "KKP's application-catalog-manager", mark
	}
	return "", ""
}

// rule refuses applications.
type rule struct {
	// id is the rule's stable identifier.
	id string
	// limits is true for a member of limit that is set.
	limits bool
	// refuse returns the reason why the rule refuses the application of the decision, or empty. It may
	// narrow the decision's versions.
	refuse func(context.Context, *Decision) (string, error)
}

// infallible adapts the refuse of a rule that returns no error.
func infallible(refuse func(*Decision) string) func(context.Context, *Decision) (string, error) {
	return func(_ context.Context, decision *Decision) (string, error) {
		return refuse(decision), nil
	}
}

// newRules returns the rules in the order in which they decide. Exclude comes first, because it takes
// precedence over limit. The members of limit follow from the most specific to the widest, so that the
// reason names the member that users most likely have to change; the expression is the last of them,
// because it costs most. Versions are narrowed only for applications that no other rule refuses, first by the
// platform: the latest version is the latest of those that run.
func newRules(criteria Criteria, listed map[string]bool) []rule {
	rules := []rule{excluded(criteria.Exclude), system(criteria.Names)}
	return append(append(rules, limitRules("", criteria, listed)...), supported(criteria.Platform), versioned(criteria.Versions))
}

// limitRules returns the rules of the members of a limit, whose path in the spec begins with path.
func limitRules(path string, limit Criteria, listed map[string]bool) []rule {
	return []rule{
		named(path+RuleNames, limit.Names),
		tiered(path+RuleTiers, limit.Tiers),
		labelled(path+RuleMatchLabels, limit.Labels, isEquality),
		labelled(path+RuleMatchExpressions, limit.Labels, isExpression),
		inLists(path+RuleLists, limit.Lists, listed),
		expressed(path+RuleExpression, limit.Expression),
	}
}

func excluded(names []string) rule {
	listed := sets.New(names...)
	return rule{id: RuleExclude, refuse: infallible(func(decision *Decision) string {
		if !listed.Has(decision.Application.Name) {
			return ""
		}
		return "exclude names it"
	})}
}

// system refuses applications that KKP itself reconciles, unless the selection names them.
func system(names []string) rule {
	listed := sets.New(names...)
	return rule{id: RuleSystem, refuse: infallible(func(decision *Decision) string {
		application := decision.Application
		component, mark := systemReconciler(application)
		if component == "" || listed.Has(application.Name) {
			return ""
		}
		return fmt.Sprintf("%s reconciles it (%s); to include it on purpose, name it in limit.nameSelector", component, excerpt.Of(mark))
	})}
}

func named(id string, names []string) rule {
	listed := sets.New(names...)
	return rule{id: id, limits: len(names) > 0, refuse: infallible(func(decision *Decision) string {
		if len(listed) == 0 || listed.Has(decision.Application.Name) {
			return ""
		}
		return id + " does not name it"
	})}
}

func tiered(id string, tiers []string) rule {
	listed := sets.New(tiers...)
	return rule{id: id, limits: len(tiers) > 0, refuse: infallible(func(decision *Decision) string {
		tier := decision.Application.Metadata.Tier
		switch {
		case len(listed) == 0 || listed.Has(tier):
			return ""
		case tier == "":
			return "it has no tier, and " + id + " requires " + anyOf(tiers) + withoutMetadata(decision.Application)
		default:
			return fmt.Sprintf("its tier is %q, and %s requires %s", excerpt.Of(tier), id, anyOf(tiers))
		}
	})}
}

// withoutMetadata returns the likely cause of an application in a directory without a metadata.yaml; empty for others.
func withoutMetadata(application *catalog.Application) string {
	if path.Base(application.Path) != catalog.ApplicationFile || application.Metadata.Labels != nil || application.Metadata.Extra != nil {
		return ""
	}
	return "; its " + catalog.MetadataFile + " is missing or empty: Flux drops symbolic links"
}

// isEquality reports whether metav1.LabelSelectorAsSelector made the requirement of matchLabels, and not
// of matchExpressions.
func isEquality(requirement labels.Requirement) bool {
	operator := requirement.Operator()
	return operator == selection.Equals || operator == selection.DoubleEquals
}

func isExpression(requirement labels.Requirement) bool {
	return !isEquality(requirement)
}

// labelled checks the requirements of one of the two members of a selector. A selector that can match
// nothing refuses all applications.
func labelled(id string, selector labels.Selector, of func(labels.Requirement) bool) rule {
	if selector == nil {
		selector = labels.Everything()
	}
	all, selectable := selector.Requirements()
	own := each.Where(all, of)
	return rule{id: id, limits: len(own) > 0, refuse: infallible(func(decision *Decision) string {
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
		return fmt.Sprintf("it has no label %q, and %s requires %s", key, id, wanted)
	}
	return fmt.Sprintf("its label %q is %q, and %s requires %s", key, value, id, wanted)
}

func inLists(id string, names []string, listed map[string]bool) rule {
	return rule{id: id, limits: len(names) > 0, refuse: infallible(func(decision *Decision) string {
		if len(names) == 0 || listed[decision.Application.Name] {
			return ""
		}
		return id + " requires that one of these lists has it: " + anyOf(names)
	})}
}

func expressed(id string, condition *expression.Expression) rule {
	return rule{id: id, limits: condition != nil, refuse: func(ctx context.Context, decision *Decision) (string, error) {
		if condition == nil {
			return "", nil
		}
		holds, err := condition.Holds(ctx, decision.Application, decision.Source)
		if holds || err != nil {
			return "", err
		}
		return id + " is false for it", nil
	}}
}

// met returns the reason for an application that no rule refuses.
func met(rules []rule) string {
	limits := each.Map(each.Where(rules, func(r rule) bool { return r.limits }), func(r rule) string { return r.id })
	if len(limits) == 0 {
		return "nothing limits the selection"
	}
	return "it meets " + strings.Join(limits, " and ")
}

// supported drops the versions whose requirements the platform does not meet, and refuses an application without any
// version left. It ignores applications that have no versions in the catalog.
func supported(platform *Platform) rule {
	check := checker{platform: platform, met: map[metadata.Requirement]bool{}}
	return rule{id: RulePlatform, refuse: infallible(func(decision *Decision) string {
		if platform == nil {
			return ""
		}
		decision.Unmet = check.unmet(decision.Application)
		switch len(decision.Unmet) {
		case 0:
			return ""
		case len(decision.Application.Versions):
			return fmt.Sprintf("none of its versions runs on the platform (%s): %s", platform, UnmetList(decision.Unmet))
		}
		drops := sets.New(each.Map(decision.Unmet, func(u Unmet) string { return u.Version })...)
		decision.Versions = slices.DeleteFunc(slices.Clone(decision.Versions), drops.Has)
		return ""
	})}
}

// versioned narrows the versions of a decision by every rule in turn, and refuses an application without
// any version left. It ignores applications that have no versions in the catalog.
func versioned(rules []VersionRule) rule {
	return rule{id: RuleVersions, refuse: func(_ context.Context, decision *Decision) (string, error) {
		if !decision.Application.IsObject() {
			return keepContent(rules, decision)
		}
		for _, rule := range rules {
			if !rule.concerns(decision.Application) {
				continue
			}
			left := rule.keep(decision.Versions, decision.Application.Metadata.Versions)
			if len(left) == 0 {
				return rule.refusal(decision), nil
			}
			if len(left) < len(decision.Versions) {
				decision.Versions = left
			}
		}
		return "", nil
	}}
}
