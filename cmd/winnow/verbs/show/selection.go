// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"

	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// decide adds the decision on the application to a selection, and what its artifact has.
func (s *reportBuilder) decide(ctx context.Context, sources []selection.Source, options render.Options, out *shownSelection) error {
	// Decide refuses the same selections as Explain, with better messages.
	if _, err := render.Decide(ctx, sources, options); err != nil {
		return err
	}
	explained, err := selection.Explain(ctx, sources, options.Criteria, s.out.Name)
	if err != nil || explained == nil {
		return err
	}
	decided := explained.Decision
	summary := report.Summarize(decided)
	out.Decision = &summary
	for _, d := range explained.Shadowed {
		out.Shadowed = append(out.Shadowed, d.Source)
	}
	for _, d := range explained.Limited {
		out.Limited = append(out.Limited, d.Source)
	}
	if !decided.Selected || !decided.Application.IsObject() {
		return nil
	}
	_, each, err := report.Refer(ctx, []selection.Decision{decided}, options, s.notes)
	if err != nil {
		return err
	}
	out.Referring = each[0]
	transformed, err := options.Transform.Apply(ctx, transform.Input{
		Application: decided.Application, Versions: decided.Versions, SourceDigest: decided.SourceDigest,
	})
	if err != nil {
		return err
	}
	spec, err := (&catalog.Application{Path: decided.Application.Path, Document: transformed.Document}).Spec()
	if err != nil {
		return err
	}
	out.DefaultVersion, out.DefaultValues = defaultsOf(spec)
	return nil
}
