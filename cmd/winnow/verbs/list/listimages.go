// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
)

// imageSearch is what images are looked for in.
type imageSearch struct {
	sources  []selection.Source
	selected []selection.Decision
	options  render.Options
}

// listImages lists the images of selected applications.
func (o *listOptions) listImages(ctx context.Context, in imageSearch, stdout, notes io.Writer) error {
	in.options.RequireMirrors, in.options.AllowEmpty = false, true
	list := newImageList()
	incomplete, err := o.addCharts(ctx, in, list)
	if err != nil {
		return err
	}
	if err := list.addValues(ctx, in, incomplete, notes); err != nil {
		return err
	}
	list.merge()
	if err := output.Write(stdout, o.output.Value, list); err != nil {
		return err
	}
	if n := list.unnamed(); n > 0 && o.output.Value == output.FormatName {
		output.Warn(notes, fmt.Sprintf("%s left out, partly unknown: -o table has them", plaintext.Count(n, "image")))
	}
	return list.judge(notes)
}

// addCharts adds the images of the charts, if they are asked for. It returns the applications that may have others.
func (o *listOptions) addCharts(ctx context.Context, in imageSearch, list *imageList) (incomplete map[string]bool, err error) {
	incomplete = map[string]bool{}
	for _, d := range in.selected {
		incomplete[d.Application.Name] = true
	}
	if !o.charts.IsSet() {
		return incomplete, nil
	}
	found, err := o.findCharts(ctx, in)
	if err != nil {
		return nil, o.Placed(err)
	}
	renderer, err := o.charts.Renderer(ctx, &o.Access)
	if err != nil {
		return nil, err
	}
	if o.Selection != nil {
		renderer.KubeVersion = charts.KubeVersion(o.Selection.CatalogSelection)
	}
	rendered, err := renderer.Render(ctx, found)
	if err != nil {
		return nil, err
	}
	failed := map[string]bool{}
	for _, r := range rendered {
		complete := list.addChart(r, in.options.Transform)
		failed[r.Application] = failed[r.Application] || !complete
		incomplete[r.Application] = failed[r.Application]
	}
	return incomplete, nil
}

// findCharts finds the charts of the selected versions. Where instances need what a mirror says, the values behind the mirrors
// are all that there is.
func (o *listOptions) findCharts(ctx context.Context, in imageSearch) ([]charts.Chart, error) {
	input := charts.Input{Selected: in.selected}
	if o.Selection == nil {
		return charts.Find(ctx, input)
	}
	without := o.Selection.DeepCopy()
	without.Spec.Mirrors, without.Spec.RequireMirrors = nil, false
	unmirrored, err := render.FromSpec(without)
	if err != nil {
		return nil, err
	}
	if input.Mirrored, err = render.Render(ctx, in.sources, in.options); err != nil {
		return nil, err
	}
	unmirrored.AllowEmpty = true
	if input.Original, err = render.Render(ctx, in.sources, unmirrored); err != nil && ctx.Err() != nil {
		return nil, err
	}
	return charts.Find(ctx, input)
}

// addValues adds the images in the default values of applications whose charts do not tell all of them.
func (l *imageList) addValues(ctx context.Context, in imageSearch, incomplete map[string]bool, notes io.Writer) error {
	selected := each.Where(in.selected, func(d selection.Decision) bool { return incomplete[d.Application.Name] })
	addresses, err := render.Refer(ctx, selected, in.options)
	if err != nil {
		return err
	}
	for _, one := range addresses {
		if one.Unreadable != "" {
			output.Warn(notes, fmt.Sprintf("%s: its default values cannot be searched: %s", one.Application, one.Unreadable))
		}
	}
	l.addDefaults(addresses, in.options.Transform)
	return nil
}

// judge warns of charts with problems. The error is a finding if images may be missing because a chart cannot be read, or does
// not render with the values of an instance.
func (l *imageList) judge(notes io.Writer) error {
	findings := 0
	for _, c := range l.Charts {
		if c.Problem != "" {
			output.Warn(notes, c.String()+": "+c.Problem)
		}
		for _, note := range c.Notes {
			output.PrintNote(notes, "note: "+c.String()+": "+note)
		}
		if c.IsFinding {
			findings++
		}
	}
	if findings > 0 {
		return output.Finding(fmt.Errorf("images may be missing: %s of %d cannot be read", plaintext.Count(findings, "chart"), len(l.Charts)))
	}
	return nil
}
