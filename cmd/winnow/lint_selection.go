package main

import (
	"context"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/lint"
)

// lintSelection adds the findings of the selection of -f.
func (o *lintOptions) lintSelection(ctx context.Context, stdin io.Reader, notes io.Writer, report *lintReport) error {
	if o.file == "" {
		return nil
	}
	cs, files, err := placeSelection(ctx, o.file, o.name, stdin)
	if err != nil {
		return err
	}
	report.Selections++
	o.selection = cs
	result, err := o.render(ctx, notes)
	if err != nil {
		return err
	}
	warnings := instanceWarnings(ctx, cs, files, result)
	if result != nil {
		warnings = append(warnings, selections.Dependencies(cs.CatalogSelection, result)...)
	}
	for _, w := range warnings {
		if slices.Contains(o.ignore, w.Rule) {
			report.Ignored++
			continue
		}
		report.Warnings++
		report.Findings = append(report.Findings, lint.Finding{
			Rule: w.Rule, Severity: lint.Warning, Path: cs.File(), Line: cs.Line(w.Field), Message: w.Message,
		})
	}
	return nil
}

// render renders the selection over the catalogs of --source; nil without any.
func (o *lintOptions) render(ctx context.Context, notes io.Writer) (*render.Result, error) {
	if len(o.sources) == 0 {
		return nil, nil
	}
	cs := o.selection.DeepCopy()
	if cs.Namespace == "" {
		cs.Namespace = "default"
	}
	sources, options, err := o.selectionOptions.open(ctx, cs, notes)
	if err != nil {
		return nil, err
	}
	options.AllowEmpty = true
	result, err := render.Render(ctx, sources, options)
	return result, o.placed(err)
}
