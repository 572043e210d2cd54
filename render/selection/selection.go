// SPDX-License-Identifier: Apache-2.0

// Package selection decides which applications of catalogs are selected, and returns the reasons as data.
// A rule is a small predicate; rules.go has their order.
//
// The package must not know YAML, archives, Kubernetes clients, or the API of a CatalogSelection.
package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Select decides on every application of the sources. If several sources have an application, it
// considers only the first: if a criterion refuses it, the later ones are not selected either. A source
// has no applications without a catalog, nor any that its limit refuses.
//
// The error is an *UnknownListError, an *expression.Error when the expression cannot be evaluated
// for an application, a *KeepError when a content cannot keep what the rules leave, a *SourceError with
// one of them for the limit of a source, a *MergeError, or the context's.
func Select(ctx context.Context, sources []Source, criteria Criteria) (Result, error) {
	listed, err := members(sources, criteria.Lists)
	if err != nil {
		return Result{}, err
	}
	gathered := gathering{winners: map[string]int{}}
	for i, source := range sources {
		if source.Catalog == nil {
			continue
		}
		if err := gathered.add(ctx, i, source, criteria.sourceRules(i)); err != nil {
			return Result{}, err
		}
	}
	rules := newRules(criteria, listed)
	result := Result{Decisions: gathered.decisions}
	var refused []error
	for i := range result.Decisions {
		decision := &result.Decisions[i]
		if decision.Rule == "" {
			err := decide(ctx, rules, decision)
			if _, ofContent := errors.AsType[*KeepError](err); ofContent {
				refused = append(refused, err)
			} else if err != nil {
				return Result{}, err
			}
		}
		result.count(decision)
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
	return result, nil
}

// decide applies the rules to an application.
func decide(ctx context.Context, rules []rule, decision *Decision) (err error) {
	if err = ctx.Err(); err != nil {
		return err
	}
	if decision.Rule, decision.Reason, err = refusedBy(ctx, rules, decision); err != nil || decision.Rule != "" {
		return err
	}
	decision.Selected, decision.Rule, decision.Reason = true, RuleSelected, met(rules)
	for _, added := range decision.Application.Merged {
		decision.Reason += fmt.Sprintf("; merge adds %s of the source %q", some(added.Versions), added.Source)
	}
	decision.Reason += narrowed(*decision)
	return nil
}

// refusedBy returns the first rule that refuses the application of a decision, and why; both are empty if none does.
func refusedBy(ctx context.Context, rules []rule, decision *Decision) (id, reason string, err error) {
	for _, rule := range rules {
		if reason, err = rule.refuse(ctx, decision); err != nil {
			return "", "", err
		}
		if reason != "" {
			return rule.id, reason, nil
		}
	}
	return "", "", nil
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
