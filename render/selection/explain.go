// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Outcome is the outcome of a rule for an application.
type Outcome string

// Outcomes. They are stable.
const (
	// OutcomePass: the rule does not refuse the application.
	OutcomePass Outcome = "pass"
	// OutcomeFail: the rule refuses it.
	OutcomeFail Outcome = "fail"
	// OutcomeUnset: the criteria do not set the rule.
	OutcomeUnset Outcome = "not set"
)

// Verdict is the outcome of one rule for an application, independent of the other rules.
type Verdict struct {
	// Rule is the rule's identifier.
	Rule string
	// Outcome for the application.
	Outcome Outcome
	// Reason describes the outcome; empty when the rule is not set.
	Reason string
}

// Explanation has the outcomes that decide whether an application is selected.
type Explanation struct {
	// Decision is the one of Select on the application of the first source that has it, and whose limit does
	// not refuse it if there is such a source.
	Decision Decision
	// Shadowed are the decisions on the same name in later sources, and Limited those in sources whose limits
	// refuse it, in their order. Decision is in neither.
	Shadowed, Limited []Decision
	// Verdicts of all rules, in the order in which they decide: first the rules of the limit of its source,
	// then the rules of the selection.
	Verdicts []Verdict
}

// Explain returns the outcomes of all rules for the application with the name, including the rules after the
// one that decides. It returns nil when no source has the application. It returns the errors of Select.
func Explain(ctx context.Context, sources []Source, criteria Criteria, name string) (*Explanation, error) {
	selected, err := Select(ctx, sources, criteria)
	if err != nil {
		return nil, err
	}
	own := each.Where(selected.Decisions, func(decision Decision) bool { return decision.Application.Name == name })
	if len(own) == 0 {
		return nil, nil
	}
	listed, err := members(sources, criteria.Lists)
	if err != nil {
		return nil, err
	}
	explanation := &Explanation{
		Decision: own[0],
		Limited:  each.Where(own[1:], func(d Decision) bool { return d.Rule == RuleSourceLimit }),
		Shadowed: each.Where(own[1:], func(d Decision) bool { return d.Rule != RuleSourceLimit }),
	}
	limits, err := criteria.sourceRules(own[0].Index).limits(own[0].Index, sources[own[0].Index])
	if err != nil {
		return nil, err
	}
	limits = slices.DeleteFunc(limits, func(r rule) bool { return !r.limits })
	for _, rule := range append(limits, newRules(criteria, listed)...) {
		verdict, err := rule.verdict(ctx, criteria, own[0])
		if err != nil {
			return nil, err
		}
		explanation.Verdicts = append(explanation.Verdicts, verdict)
	}
	return explanation, nil
}

// verdict asks one rule. One that cannot be evaluated fails: it comes after the rule that
// decided, or Select would have returned the error.
func (r rule) verdict(ctx context.Context, criteria Criteria, decided Decision) (Verdict, error) {
	application := decided.Application
	if !r.isSet(criteria, application) {
		return Verdict{Rule: r.id, Outcome: OutcomeUnset}, nil
	}
	tried := Decision{Application: application, Source: decided.Source, Index: decided.Index, SourceDigest: decided.SourceDigest, Versions: application.Versions}
	reason, err := r.refuse(ctx, &tried)
	switch {
	case ctx.Err() != nil:
		return Verdict{}, ctx.Err()
	case err != nil:
		return Verdict{Rule: r.id, Outcome: OutcomeFail, Reason: err.Error()}, nil
	}
	verdict := Verdict{Rule: r.id, Outcome: OutcomeFail, Reason: reason}
	if reason == "" {
		verdict.Outcome, verdict.Reason = OutcomePass, r.passed(tried, criteria)
	}
	if r.id == RulePlatform {
		verdict.Reason += criteria.Platform.unchecked(application)
	}
	return verdict, nil
}

// isSet reports whether the criteria have something for the rule, which for platform and versions depends
// on the application.
func (r rule) isSet(criteria Criteria, application *catalog.Application) bool {
	switch r.id {
	case RuleSystem:
		return true
	case RuleExclude:
		return len(criteria.Exclude) > 0
	case RulePlatform:
		return criteria.Platform != nil && len(application.Versions) > 0
	case RuleVersions:
		return slices.ContainsFunc(criteria.Versions, func(v VersionRule) bool { return v.concerns(application) })
	}
	return r.limits
}

// passed returns why the rule does not refuse the application of a decision.
func (r rule) passed(decision Decision, criteria Criteria) string {
	application := decision.Application
	id := r.id
	if i := strings.LastIndex(id, "].limit."); i >= 0 { // of a source
		id = id[i+len("]."):]
	}
	switch id {
	case RuleExclude:
		return "exclude does not name it"
	case RuleSystem:
		if component, _ := systemReconciler(application); component != "" {
			return component + " reconciles it, but limit.nameSelector names it"
		}
		return "it is not one that KKP's operator reconciles"
	case RuleNames:
		return r.id + " names it"
	case RuleTiers:
		return fmt.Sprintf("its tier is %q", excerpt.Of(application.Metadata.Tier))
	case RuleLists:
		return "one of the lists has it"
	case RuleExpression:
		return r.id + " is true for it"
	case RulePlatform:
		return criteria.Platform.runs(decision)
	case RuleVersions:
		return fmt.Sprintf("%d of its %d versions stay", len(decision.Versions), len(application.Versions))
	}
	return "its labels match"
}

// runs describes which versions of a decision run on the platform.
func (p *Platform) runs(decision Decision) string {
	all, unmet := len(decision.Application.Versions), len(decision.Unmet)
	if unmet == 0 {
		return fmt.Sprintf("no version requires anything else than the platform has (%s)", p)
	}
	return fmt.Sprintf("%d of its %d versions run on the platform (%s): %s", all-unmet, all, p, UnmetList(decision.Unmet))
}
