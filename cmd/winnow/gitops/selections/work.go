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

// work renders and compares each state once: most clusters of a fleet have the same selections over the same catalogs.
type work struct {
	render  func(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []guard.Source) (*comparing.Side, error)
	compare func(ctx context.Context, from, to *comparing.Side) (*diff.Selection, error)

	// rendered has the renders by what they depend on, sides the states by that and the rest of the spec, and compared the
	// comparisons of these.
	rendered, sides memo.Memo[string, *comparing.Side]
	compared        memo.Memo[[2]*comparing.Side, compared]
}

// compared is a comparison, with the newer state that was compared.
type compared struct {
	out *diff.Selection
	to  *comparing.Side
}

func newWork(options Options) work {
	w := work{
		render: options.Render, compare: options.Compare,
		rendered: memo.Memo[string, *comparing.Side]{}, sides: memo.Memo[string, *comparing.Side]{}, compared: memo.Memo[[2]*comparing.Side, compared]{},
	}
	if w.render == nil {
		w.render = comparing.Render
	}
	return w
}

// side renders a selection over its sources. The caller must not change the result, which others with the same spec and
// catalogs get as well.
func (w *work) side(ctx context.Context, cs *v1alpha1.CatalogSelection, references []documents.Reference, sources []guard.Source) (*comparing.Side, error) {
	over := []string{cs.Namespace, cs.Name}
	for _, r := range references {
		over = append(over, r.Catalog)
	}
	whole, err := json.Marshal(cs.Spec)
	if err != nil {
		return nil, err
	}
	key := inputs.Digest(append(over, string(whole), cs.Annotations[v1alpha1.IgnoreRisksAnnotation])...)
	return w.sides.Of(ctx, key, func() (*comparing.Side, error) { return w.renderOnce(ctx, cs, over, sources) })
}

// renderOnce renders a selection, or takes the render of another one whose spec differs in what the artifact does not
// depend on.
func (w *work) renderOnce(ctx context.Context, cs *v1alpha1.CatalogSelection, over []string, sources []guard.Source) (*comparing.Side, error) {
	spec, err := json.Marshal(guard.RenderedSpec(cs))
	if err != nil {
		return nil, err
	}
	key := inputs.Digest(append(over, string(spec))...)
	found, err := w.rendered.Of(ctx, key, func() (*comparing.Side, error) { return w.render(ctx, cs, sources) })
	if err != nil {
		return nil, err
	}
	return &comparing.Side{Selection: cs, Sources: sources, Result: found.Result, Empty: found.Empty}, nil
}

// difference compares two states. It returns the newer one as it was compared: it knows the entries that the older one
// approves.
func (w *work) difference(ctx context.Context, from, to *comparing.Side) (*diff.Selection, *comparing.Side, error) {
	found, err := w.compared.Of(ctx, [2]*comparing.Side{from, to}, func() (compared, error) {
		newer := to
		if from != nil && to != nil {
			reviewed := *to
			reviewed.Reviewed = from.Selection.Spec.Safeguards.Approve
			newer = &reviewed
		}
		out, err := w.compare(ctx, from, newer)
		return compared{out, newer}, err
	})
	if err != nil {
		return nil, nil, err
	}
	return found.out.Clone(), found.to, nil
}
