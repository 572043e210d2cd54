// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/selection"
)

// notEmpty returns an error if nothing is left to publish, and the options do not allow that.
func notEmpty(selected selection.Result, resolved []instance.Resolved, unresolved []instance.Unresolved, opts options.Options) error {
	if opts.AllowEmpty || selected.Selected > 0 && (!opts.OmitDefinitions || len(resolved) > 0) {
		return nil
	}
	return &refusal.Error{Code: v1alpha1.EmptyResultReason, Err: emptyResult(selected, unresolved)}
}

// emptyResult returns an error with the number of applications, and of those that each rule left out.
func emptyResult(selected selection.Result, unresolved []instance.Unresolved) error {
	if selected.Selected > 0 {
		errs := []error{errors.New("nothing is installed: spec.definitions is Omit, and no instance can be resolved")}
		for _, u := range unresolved {
			errs = append(errs, errors.New(u.String()))
		}
		return errors.New(strings.ReplaceAll(refusal.Join(errs).Error(), "\n", "; "))
	}
	counts := map[string]int{}
	for _, d := range selected.Decisions {
		if d.Rule == selection.RuleSourceLimit && selected.Available > 0 {
			continue // it does not exist for the other rules
		}
		if d.Rule != selection.RuleShadowed {
			counts[d.Rule]++
		}
	}
	if len(counts) == 0 {
		return errors.New("nothing is selected: the sources have no applications")
	}
	parts := each.Map(slices.Sorted(maps.Keys(counts)), func(rule string) string { return fmt.Sprintf("%d by %s", counts[rule], rule) })
	all, limits := "", 0
	for rule := range counts {
		if limits += strings.Count(rule, "limit."); limits == 2 {
			all = "; an application must match all members of spec.limit"
			break
		}
	}
	return fmt.Errorf("nothing is selected; left out of %d applications: %s%s",
		max(selected.Available, counts[selection.RuleSourceLimit]), strings.Join(parts, ", "), all)
}
