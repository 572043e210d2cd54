// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// Decide selects without rendering, and returns the decision for every application.
func Decide(ctx context.Context, sources []selection.Source, opts options.Options) (selection.Result, error) {
	if err := ctx.Err(); err != nil {
		return selection.Result{}, err
	}
	selected, err := selection.Select(ctx, sources, opts.Criteria)
	if err != nil && ctx.Err() != nil {
		return selected, fmt.Errorf("selecting applications: %w", ctx.Err())
	}
	return selected, placed(err)
}

// placed adds the field of the spec to an error of selection.Select.
func placed(err error) error {
	at := "spec."
	if source, ok := errors.AsType[*selection.SourceError](err); ok {
		at = fmt.Sprintf("spec.sources[%d].", source.Index)
	}
	var unknown *selection.UnknownListError
	var failed *expression.Error
	var merge *selection.MergeError
	if _, ofContent := errors.AsType[*selection.KeepError](err); ofContent {
		return refusal.OfSpec("spec.versions", refusal.Flat(err))
	}
	switch {
	case errors.As(err, &unknown):
		return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: at + "limit.catalogRefs", Err: err}
	case errors.As(err, &failed):
		return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: at + "limit.expression", Err: err}
	case errors.As(err, &merge):
		return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: fmt.Sprintf("spec.sources[%d].merge", merge.Conflicts[0].Index), Err: err}
	}
	return err
}
