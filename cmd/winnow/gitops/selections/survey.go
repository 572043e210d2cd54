// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/render/diff"
)

// Survey has what the selections and the stages of a commit publish.
type Survey struct {
	// Report compares the commit with an earlier one.
	Report *diff.Report
	// Published are the selections, sorted by cluster, file, namespace and name.
	Published []State
	// Stages are sorted by file, namespace and name.
	Stages []promotions.State
}

// Look compares two commits as Compare does, and returns what the newer one publishes as well. What cannot be read is in the
// survey; the error is from Compare.
func Look(ctx context.Context, base, head string, options Options) (*Survey, error) {
	c, report, err := compareCommits(ctx, base, head, options)
	if err != nil {
		return nil, err
	}
	s := &Survey{Report: report}
	for _, p := range c.pairs {
		if p.to != nil {
			s.Published = append(s.Published, c.published(ctx, *p.to))
		}
	}
	if options.Rendered != nil {
		s.Stages = promotions.States(ctx, &c.head, options.Rendered)
	}
	return s, ctx.Err()
}

// published renders a selection of the newer commit.
func (c *comparison) published(ctx context.Context, s State) State {
	if s.Lost != "" {
		return State{Selection: s.Selection, Open: []string{s.Lost}}
	}
	for _, ref := range s.Spec.Sources {
		source, _ := c.head.SourceOf(s.Selection, ref) // Open has the error
		s.Sources = append(s.Sources, source)
	}
	if len(s.Open) > 0 {
		return s
	}
	if side, _ := c.rendered(ctx, &s); side != nil && side.Empty != nil {
		s.Side, s.Err = nil, side.Empty
	}
	return s
}
