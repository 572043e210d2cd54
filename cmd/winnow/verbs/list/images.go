// SPDX-License-Identifier: Apache-2.0

package list

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/images"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// imageList is the output of list with --images.
type imageList struct {
	output.Document
	Images []listedImage `json:"images"`
	// Charts that were rendered, with --charts.
	Charts []listedChart `json:"charts,omitempty"`
}

// listedImage is an image, as one or several applications refer to it.
type listedImage struct {
	// From is the address before the mirrors, To what the cluster pulls, and Mirror where a mirror has the image, empty for
	// none. A cluster does not use a mirror that is not To.
	From   string `json:"from"`
	To     string `json:"to"`
	Mirror string `json:"mirror,omitempty"`
	// Unknown is the part without which it cannot be copied.
	Unknown transform.Unknown `json:"unknown,omitempty"`
	// InText reports whether all that refer to it are texts, such as arguments, which may mean something else.
	InText bool `json:"inText,omitempty"`
	// Applications that refer to it, with their versions, sorted.
	Applications []string `json:"applications"`
}

// listedChart is the chart of a version, as it was rendered with one set of values.
type listedChart struct {
	Application string `json:"application"`
	Version     string `json:"version"`
	// Instance whose values are used; empty for the default values.
	Instance string `json:"instance,omitempty"`
	// URL, Chart and ChartVersion behind the mirrors.
	URL          string `json:"url,omitempty"`
	Chart        string `json:"chart,omitempty"`
	ChartVersion string `json:"chartVersion,omitempty"`
	// Images that it refers to, in number.
	Images int `json:"images"`
	// Problem is the reason why its images are not all there.
	Problem string `json:"problem,omitempty"`
	// IsFinding reports whether the problem is one of the catalog or the selection, and not of default values alone.
	IsFinding bool `json:"isFinding,omitempty"`
	// Notes are what may be otherwise in a cluster.
	Notes []string `json:"notes,omitempty"`
}

// String returns the chart for people.
func (c listedChart) String() string {
	text := strings.TrimSpace(c.Application + " " + c.Version)
	if c.Instance != "" {
		text += ", instance " + c.Instance
	}
	return text
}

// unknownGenerated: a render of the chart generates a part of the reference.
const unknownGenerated transform.Unknown = "generated"

func newImageList() *imageList {
	return &imageList{Document: output.NewDocument("ImageList"), Images: []listedImage{}}
}

// add adds an image, with the mirror that the pipeline has for it.
func (l *imageList) add(image listedImage, pipeline *transform.Pipeline) {
	if pipeline != nil {
		image.Mirror = pipeline.MirrorOfImage(image.To)
	}
	l.Images = append(l.Images, image)
}

// merge sorts the images and makes one of images with the same addresses.
func (l *imageList) merge() {
	compare := func(a, b listedImage) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Unknown, b.Unknown))
	}
	slices.SortStableFunc(l.Images, compare)
	merged := l.Images[:0]
	for _, image := range l.Images {
		if last := len(merged) - 1; last >= 0 && compare(merged[last], image) == 0 {
			merged[last].Applications = append(merged[last].Applications, image.Applications...)
			merged[last].InText = merged[last].InText && image.InText
			continue
		}
		merged = append(merged, image)
	}
	l.Images = merged
	for i := range l.Images {
		slices.Sort(l.Images[i].Applications)
		l.Images[i].Applications = slices.Compact(l.Images[i].Applications)
	}
}

// mirrorCell returns where a mirror has the image, and whether the cluster pulls it from there.
func (i listedImage) mirrorCell() string {
	switch i.Mirror {
	case "":
		return "-"
	case i.To:
		return i.Mirror
	}
	return "not used: " + i.Mirror
}

// fromCell returns the address, with what is unknown of it.
func (i listedImage) fromCell() string {
	if i.Unknown != "" {
		return fmt.Sprintf("%s (unknown: %s)", i.From, i.Unknown)
	}
	return i.From
}

func (l *imageList) Table(w io.Writer) {
	g := output.Grid{Header: []string{"IMAGE", "MIRROR", "APPLICATIONS"}}
	for _, i := range l.Images {
		g.Rows = append(g.Rows, []string{i.fromCell(), i.mirrorCell(), excerpt.Names(i.Applications, maxApplications)})
	}
	g.Print(w)
}

// maxApplications of an image are in a table.
const maxApplications = 3

func (l *imageList) Wide(w io.Writer) {
	g := output.Grid{Header: []string{"IMAGE", "MIRROR", "PULLED", "IN TEXT", "APPLICATIONS"}}
	for _, i := range l.Images {
		g.Rows = append(g.Rows, []string{i.fromCell(), i.mirrorCell(), i.To, yesNo(i.InText), strings.Join(i.Applications, ", ")})
	}
	g.Print(w)
	for _, c := range l.Charts {
		if c.Problem != "" {
			fmt.Fprintln(w, plaintext.Line("chart: "+c.String()+": "+c.Problem))
		}
	}
}

// Names returns the addresses before the mirrors of images that can be copied.
func (l *imageList) Names() []string {
	known := each.Where(l.Images, func(i listedImage) bool { return i.Unknown == "" })
	return slices.Compact(each.Map(known, func(i listedImage) string { return i.From }))
}

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
	if n := len(each.Where(list.Images, func(i listedImage) bool { return i.Unknown != "" })); n > 0 && o.output.Value == output.FormatName {
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
		for _, host := range one.Hosts {
			if host.Kind == transform.KindImage {
				l.add(listedImage{From: host.From, To: host.To, Unknown: host.Unknown, Applications: []string{one.Application}}, in.options.Transform)
			}
		}
	}
	return nil
}

// judge warns of charts with problems. The error is a finding if images may be missing because a chart cannot be read, or does
// not render with the values of an instance.
func (l *imageList) judge(notes io.Writer) error {
	for _, c := range l.Charts {
		if c.Problem != "" {
			output.Warn(notes, c.String()+": "+c.Problem)
		}
		for _, note := range c.Notes {
			output.PrintNote(notes, "note: "+c.String()+": "+note)
		}
	}
	if n := len(each.Where(l.Charts, func(c listedChart) bool { return c.IsFinding })); n > 0 {
		return output.Finding(fmt.Errorf("images may be missing: %s of %d cannot be read", plaintext.Count(n, "chart"), len(l.Charts)))
	}
	return nil
}

// addChart adds the images of a rendered chart. It reports whether these are all.
func (l *imageList) addChart(r charts.Rendered, pipeline *transform.Pipeline) (complete bool) {
	about := listedChart{
		Application: r.Application, Version: r.Version, URL: redact.Text(r.Mirrored.URL), Chart: r.Mirrored.Name, ChartVersion: r.Mirrored.Version,
	}
	switch {
	case r.Missing != "":
		about.Problem = r.Missing
	case r.Failure != nil:
		about.Problem, about.IsFinding = redact.Text(r.Failure.Error()), true
	}
	if about.Problem != "" {
		l.Charts = append(l.Charts, about)
		return false
	}
	complete = true
	for i, use := range r.Uses {
		c := about
		c.Instance = use.Instance
		l.addRender(&c, r.Rendered[i], pipeline)
		if r.OtherVersion != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("its archive has the version %s of the chart", excerpt.Quoted(r.OtherVersion)))
		}
		if use.IsOpen {
			c.Notes = append(c.Notes, "values that only the cluster has are not read")
		}
		l.Charts = append(l.Charts, c)
		complete = complete && c.Problem == ""
	}
	return complete
}

// addRender adds the images of a chart with one set of values.
func (l *imageList) addRender(c *listedChart, r charts.Pair, pipeline *transform.Pipeline) {
	c.Notes = append(c.Notes, r.Mirrored.Notes...)
	if r.Mirrored.Refused != "" {
		c.Problem, c.IsFinding = "it does not render: "+r.Mirrored.Refused, c.Instance != ""
		return
	}
	originals, _ := imagesOf(r.Original.Manifests)
	found, problem := imagesOf(r.Mirrored.Manifests)
	for field, image := range found {
		listed := listedImage{From: image.Address, To: image.Address, InText: image.InText, Applications: []string{c.Application + " " + c.Version}}
		if original, ok := originals[field]; ok {
			listed.From = original.Address
		}
		if image.isGenerated {
			listed.From, listed.To, listed.Unknown = images.Repository(listed.From), images.Repository(listed.To), unknownGenerated
		}
		l.add(listed, pipeline)
	}
	c.Images, c.Problem, c.IsFinding = len(found), problem, problem != ""
}

// imageField is a field of a manifest that refers to an image.
type imageField struct {
	file, object, path string
	// ordinal tells references in the same field apart.
	ordinal int
}

// foundImage is the image in a field.
type foundImage struct {
	images.Image

	isGenerated bool
}

// imagesOf returns the images of manifests by field. problem says why some could not be searched.
func imagesOf(manifests []rendering.Manifest) (all map[imageField]foundImage, problem string) {
	all = map[imageField]foundImage{}
	for _, m := range manifests {
		found, err := images.Find(m.Text)
		if err != nil {
			problem = fmt.Sprintf("%s cannot be searched: %v", m.Path, err)
		}
		for _, image := range found {
			at := imageField{file: m.Path, object: image.Object, path: image.Path}
			for _, taken := all[at]; taken; _, taken = all[at] {
				at.ordinal++
			}
			all[at] = foundImage{image, m.IsGenerated(image.Path)}
		}
	}
	return all, problem
}
