package selection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
)

// Source is a catalog and the name that people know it by.
type Source struct {
	Name    string
	Catalog *catalog.Catalog
}

// Criteria say what is selected. The zero value selects everything; an empty member is no
// constraint. Every member that is set must hold, and one of its elements has to match.
type Criteria struct {
	// Tiers of metadata.yaml. Case matters.
	Tiers []string
	// Names of applications.
	Names []string
	// Exclude names applications that are left out, whatever the other members say.
	Exclude []string
}

// Rules that decide. These identifiers are stable; those of members of the API are their paths
// in its spec.
const (
	RuleSelected = "selected"
	RuleShadowed = "shadowed"
	RuleExclude  = "exclude"
	RuleNames    = "limit.nameSelector"
	RuleTiers    = "limit.metadataSelector.tierRefs"
)

// Decision says whether an application of a source is selected, and why.
type Decision struct {
	// Application that was decided on.
	Application *catalog.Application
	// Source is the name of the source that has it.
	Source string
	// Selected is true for an application that is taken.
	Selected bool
	// Rule is the identifier of the first rule that decided.
	Rule string
	// Reason for people: why the rule decided so.
	Reason string
}

// Result is what Select decided.
type Result struct {
	// Decisions on every application of every source, sorted by name, then in the order of
	// the sources.
	Decisions []Decision
	// UnknownNames of Criteria's Names and Exclude are in no catalog. Sorted, each once.
	UnknownNames []string
	// Available is the number of different names in all sources.
	Available int
	// Selected is the number of applications that are taken.
	Selected int
	// Excluded is the number of available names that are not taken: Available - Selected.
	Excluded int
	// Shadowed is the number of applications that an earlier source has as well.
	Shadowed int
}

// Applications returns the decisions on the selected applications, sorted by name, which is unique
// among them.
func (r Result) Applications() []Decision {
	selected := make([]Decision, 0, r.Selected)
	for _, decision := range r.Decisions {
		if decision.Selected {
			selected = append(selected, decision)
		}
	}
	return selected
}

// Select decides on every application of the sources. Of an application in several sources the
// first source's is considered, before anything else: a criterion that refuses it does not let
// a later source's in. A source without a catalog has no applications.
func Select(sources []Source, criteria Criteria) Result {
	rules := newRules(criteria)
	winners := map[string]string{}
	var result Result
	for _, source := range sources {
		if source.Catalog == nil {
			continue
		}
		for _, application := range source.Catalog.Applications {
			result.add(decide(application, source.Name, winners, rules))
		}
	}
	slices.SortStableFunc(result.Decisions, func(a, b Decision) int {
		return cmp.Compare(a.Application.Name, b.Application.Name)
	})
	result.Available = len(winners)
	result.Excluded = result.Available - result.Selected
	result.UnknownNames = unknown(winners, criteria)
	return result
}

func (r *Result) add(decision Decision) {
	r.Decisions = append(r.Decisions, decision)
	switch decision.Rule {
	case RuleSelected:
		r.Selected++
	case RuleShadowed:
		r.Shadowed++
	}
}

// decide records the source of a name that it sees first.
func decide(application *catalog.Application, source string, winners map[string]string, rules []rule) Decision {
	decision := Decision{Application: application, Source: source}
	if winner, taken := winners[application.Name]; taken {
		decision.Rule = RuleShadowed
		decision.Reason = fmt.Sprintf("the source %q, which is listed earlier, has it as well", winner)
		return decision
	}
	winners[application.Name] = source
	for _, rule := range rules {
		if reason := rule.refuse(application); reason != "" {
			decision.Rule, decision.Reason = rule.id, reason
			return decision
		}
	}
	decision.Selected, decision.Rule, decision.Reason = true, RuleSelected, met(rules)
	return decision
}

func unknown(known map[string]string, criteria Criteria) []string {
	missing := map[string]bool{}
	for _, name := range slices.Concat(criteria.Names, criteria.Exclude) {
		if _, ok := known[name]; !ok {
			missing[name] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}
