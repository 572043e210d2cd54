package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/winnow-dev/winnow/render/catalog"
)

// Source is a catalog with the name of its source.
type Source struct {
	Name string
	// Digest identifies the content, <algorithm>:<checksum>, or is empty. No rule depends on it.
	Digest  string
	Catalog *catalog.Catalog
}

// Criteria select applications. The zero value selects all except KKP's system applications; an empty
// member is no constraint. Every member that is set must hold; of a list, one element has to match.
type Criteria struct {
	// Tiers of metadata.yaml. Case matters.
	Tiers []string
	// Names of applications. KKP's system applications are selected only by name.
	Names []string
	// Lists are names of catalogs/<name> in any of the sources.
	Lists []string
	// Exclude has the names of applications that are left out, even if the other members select them.
	Exclude []string
	// Labels select by the labels of metadata.yaml; nil selects everything.
	Labels labels.Selector
	// Expression must be true; nil selects everything.
	Expression *Expression
	// Platform drops versions that do not run on it; nil drops none.
	Platform *Platform
	// Versions narrow the other versions of selected applications, one rule after the other.
	Versions []VersionRule
	// Sources are the rules of each source, in the order of the sources.
	Sources []SourceRules
}

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
	// Versions that stay, in the document's order; those of the catalog for an application that is not
	// selected. They must not be modified.
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

// Result has the decisions of Select.
type Result struct {
	// Decisions on every application of every source, sorted by name. Of one name, those that the limits of
	// sources refuse come last, and the first of the others decides; both are in the order of the sources.
	Decisions []Decision
	// UnknownNames are the names in Criteria's Names, Exclude and Versions that no catalog has, or only with
	// limits that refuse them, sorted and each once.
	UnknownNames []string
	// Available is the number of different names in all sources, without those that the limits of sources
	// refuse everywhere.
	Available int
	// Selected is the number of selected applications.
	Selected int
	// Excluded is the number of available names that are not selected: Available - Selected.
	Excluded int
	// Shadowed is the number of applications that an earlier source has as well.
	Shadowed int
	// Deprecated is the number of selected applications that are deprecated, DeprecatedVersions that of the
	// versions that stay and are deprecated.
	Deprecated, DeprecatedVersions int
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

// Select decides on every application of the sources. Of an application in several sources it considers
// that of the first source only: if a criterion refuses it, those of later sources are not selected
// either. A source without a catalog has no applications, nor has one those that its limit refuses.
//
// The error is an *UnknownListError, an *ExpressionError when the expression cannot be evaluated
// for an application, a *KeepError when a content cannot keep what the rules leave, a *SourceError with one of them for the limit of a source, a *MergeError, or the
// context's.
func Select(ctx context.Context, sources []Source, criteria Criteria) (Result, error) {
	listed, err := members(sources, criteria.Lists)
	if err != nil {
		return Result{}, err
	}
	gathered := newGathering()
	for i, source := range sources {
		if source.Catalog == nil {
			continue
		}
		if err := gathered.add(ctx, i, source, criteria.sourceRules(i)); err != nil {
			return Result{}, err
		}
	}
	run := sieve{rules: newRules(criteria, listed)}
	run.met = met(run.rules)
	var result Result
	var refused []error
	for _, decision := range gathered.decisions {
		if decision.Rule == "" {
			err := run.decide(ctx, &decision)
			if _, ofContent := errors.AsType[*KeepError](err); ofContent {
				refused = append(refused, err)
			} else if err != nil {
				return Result{}, err
			}
		}
		result.add(decision)
	}
	if len(refused) > 0 {
		return Result{}, errors.Join(refused...)
	}
	if err := gathered.conflict(result); err != nil {
		return Result{}, err
	}
	slices.SortStableFunc(result.Decisions, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.Application.Name, b.Application.Name), a.limited()-b.limited())
	})
	result.Available = len(gathered.winners)
	result.Excluded = result.Available - result.Selected
	result.UnknownNames = unknown(gathered.winners, criteria)
	return result, nil
}

// limited is 1 for an application that the limit of its source refuses, and else 0.
func (d Decision) limited() int {
	if d.Rule == RuleSourceLimit {
		return 1
	}
	return 0
}

// members returns the applications in the given lists of all sources.
func members(sources []Source, lists []string) (map[string]bool, error) {
	known, listed := map[string]bool{}, map[string]bool{}
	wanted := set(lists)
	for _, source := range sources {
		if source.Catalog == nil {
			continue
		}
		for name, applications := range source.Catalog.Lists {
			known[name] = true
			for _, application := range applications {
				listed[application] = listed[application] || wanted[name]
			}
		}
	}
	var missing []string
	for name := range wanted {
		if !known[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, &UnknownListError{Unknown: missing, Known: slices.Sorted(maps.Keys(known))}
	}
	return listed, nil
}

func (r *Result) add(decision Decision) {
	r.Decisions = append(r.Decisions, decision)
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

// sieve applies the rules to one application after the other.
type sieve struct {
	rules []rule
	// met is the reason for an application that no rule refuses.
	met string
}

func (s sieve) decide(ctx context.Context, decision *Decision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, rule := range s.rules {
		reason, err := rule.refuse(ctx, decision)
		if err != nil {
			return err
		}
		if reason != "" {
			decision.Rule, decision.Reason = rule.id, reason
			return nil
		}
	}
	decision.Selected, decision.Rule, decision.Reason = true, RuleSelected, s.met
	for _, added := range decision.Application.Merged {
		decision.Reason += fmt.Sprintf("; merge adds %s of the source %q", some(added.Versions), added.Source)
	}
	decision.Reason += narrowed(*decision)
	return nil
}

// narrowed describes which rules drop versions of a selected application.
func narrowed(decision Decision) string {
	all, unmet, text := len(decision.Application.Versions), len(decision.Unmet), ""
	which := fmt.Sprintf("its %d versions", all)
	if unmet > 0 {
		text = fmt.Sprintf("; platform drops %d of its %d versions", unmet, all)
		which = fmt.Sprintf("the other %d", all-unmet)
	}
	if len(decision.Versions) < all-unmet {
		text += fmt.Sprintf("; versions keeps %d of %s", len(decision.Versions), which)
	}
	return text
}

func unknown(known map[string]int, criteria Criteria) []string {
	named := slices.Concat(criteria.Names, criteria.Exclude)
	for _, rule := range criteria.Versions {
		named = append(named, rule.Names...)
	}
	missing := map[string]bool{}
	for _, name := range named {
		if _, ok := known[name]; !ok {
			missing[name] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}
