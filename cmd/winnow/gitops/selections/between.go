package selections

import (
	"context"
	"errors"
	"slices"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
)

// sides are the two states of a selection; both are there.
type sides struct{ from, to *diff.Side }

// between notes what is lost while only one of spec and catalogs is that of the newer commit.
func (c *comparison) between(ctx context.Context, p pair, s sides, before, after []reference, out *diff.Selection) error {
	// A source that the other commit does not have is not served there: it stays as it is.
	older, newer := c.base.otherwise(*p.to, after), c.head.otherwise(*p.from, before)
	if slices.Equal(older, after) {
		return nil
	}
	edited, err := c.way(ctx, p.to, older)
	if err != nil {
		return err
	}
	updated, err := c.way(ctx, p.from, newer)
	if err != nil {
		return err
	}
	out.Transient = diff.NewTransient(s.from, s.to, edited, updated)
	out.Explain(edited)
	return nil
}

// way renders a state in between; nil where it cannot be rendered, so that nothing is published of it.
func (c *comparison) way(ctx context.Context, cs *placedSelection, references []reference) (*diff.Side, error) {
	side, err := c.side(ctx, cs, references)
	var invalid *render.Error
	if errors.As(err, &invalid) {
		return nil, nil
	}
	return side, err
}

// otherwise returns what the sources of a selection stand for in this commit, and where it does not
// tell, what they stand for in the other one.
func (r *revision) otherwise(cs placedSelection, other []reference) []reference {
	references := slices.Clone(other)
	for i, ref := range cs.Spec.Sources {
		if found, err := r.reference(cs, ref); err == nil {
			references[i] = found
		}
	}
	return references
}
