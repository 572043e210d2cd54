// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// rendered renders a state, whose inputs are known, once. It returns nil for a nil state.
func (c *comparison) rendered(ctx context.Context, s *State) (*comparing.Side, error) {
	if s == nil {
		return nil, nil
	}
	if s.Side == nil && s.Err == nil {
		s.Side, s.Err = c.side(ctx, s)
	}
	return s.Side, s.Err
}

func (c *comparison) side(ctx context.Context, s *State) (*comparing.Side, error) {
	placed := s.DeepCopy()
	placed.Namespace = cmp.Or(placed.Namespace, "default")
	sources := make([]guard.Source, len(s.References))
	for i, r := range s.References {
		ref := placed.Spec.Sources[i]
		if err := r.RequireVerified(ref); err != nil {
			return nil, err
		}
		pulled, err := c.pull(ctx, r, ref)
		if err != nil {
			return nil, err
		}
		sources[i] = guard.SourceOf(placed, ref, pulled)
	}
	return c.render(ctx, placed, s.References, sources)
}

// pullTimeout bounds the pull of one catalog, so that a registry that hangs does not prevent the comparison
// of the others.
const pullTimeout = 3 * time.Minute

// pull loads a catalog and caches it.
func (c *comparison) pull(ctx context.Context, r documents.Reference, ref v1alpha1.SourceReference) (selection.Source, error) {
	return memo.Of(ctx, c.memo, r.Catalog+" "+render.LocationOf(ref).Key(), func() (selection.Source, error) {
		limited, cancel := context.WithTimeout(ctx, pullTimeout)
		defer cancel()
		return c.options.Open(limited, r.Catalog, ref, r.PlainHTTP)
	})
}

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
