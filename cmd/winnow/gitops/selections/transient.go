// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"errors"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections/revision"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// addTransient adds to the comparison the losses while only one of spec and catalogs is that of the newer commit.
func (c *comparison) addTransient(ctx context.Context, p pair, s sides, before, after []revision.Reference, out *diff.Selection) error {
	// A source that the other commit does not contain cannot change there, so it keeps its reference.
	older, newer := c.base.ResolveOr(*p.to, after), c.head.ResolveOr(*p.from, before)
	if slices.Equal(older, after) {
		return nil
	}
	edited, err := c.intermediate(ctx, p.to, older)
	if err != nil {
		return err
	}
	updated, err := c.intermediate(ctx, p.from, newer)
	if err != nil {
		return err
	}
	out.Transient = comparing.NewTransient(s.from, s.to, edited, updated)
	comparing.Explain(out, edited)
	return nil
}

// intermediate renders a selection over the references. It returns nil if the render fails, because the controller
// then publishes nothing.
func (c *comparison) intermediate(ctx context.Context, cs *revision.Selection, references []revision.Reference) (*comparing.Side, error) {
	side, err := c.side(ctx, cs, references)
	if _, invalid := errors.AsType[*render.Error](err); invalid {
		return nil, nil
	}
	return side, err
}
