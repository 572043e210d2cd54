// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"encoding/json"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
)

// render renders a selection over its sources once for each spec, and does not render it again for a spec that differs in what the
// artifact does not depend on. The caller must not change the result.
func (c *comparison) render(ctx context.Context, cs *v1alpha1.CatalogSelection, references []documents.Reference, sources []guard.Source) (*comparing.Side, error) {
	over := []string{cs.Namespace, cs.Name}
	for _, r := range references {
		over = append(over, r.Catalog)
	}
	whole, err := json.Marshal(cs.Spec)
	if err != nil {
		return nil, err
	}
	side := inputs.Digest(append(over, string(whole), cs.Annotations[v1alpha1.IgnoreRisksAnnotation])...)
	return memo.Of(ctx, c.memo, side, func() (*comparing.Side, error) {
		rendered, err := json.Marshal(guard.RenderedSpec(cs))
		if err != nil {
			return nil, err
		}
		render := c.options.Render
		if render == nil {
			render = comparing.Render
		}
		found, err := memo.Of(ctx, c.memo, inputs.Digest(append(over, string(rendered))...), func() (*comparing.Side, error) { return render(ctx, cs, sources) })
		if err != nil {
			return nil, err
		}
		return &comparing.Side{Selection: cs, Sources: sources, Result: found.Result, Empty: found.Empty, Lines: cs.Spec.Safeguards.Approve}, nil
	})
}

// compared is a comparison, with the newer state that was compared.
type compared struct {
	out *diff.Selection
	to  *comparing.Side
}

// difference compares two states once. It returns the newer one as it was compared: it knows the entries that the older one
// approves.
func (c *comparison) difference(ctx context.Context, from, to *comparing.Side) (*diff.Selection, *comparing.Side, error) {
	found, err := memo.Of(ctx, c.memo, [2]*comparing.Side{from, to}, func() (compared, error) {
		newer := to
		if from != nil && to != nil {
			reviewed := *to
			reviewed.Reviewed = from.Lines
			newer = &reviewed
		}
		out, err := c.options.Compare(ctx, from, newer)
		return compared{out, newer}, err
	})
	if err != nil {
		return nil, nil, err
	}
	return found.out.Clone(), found.to, nil
}
