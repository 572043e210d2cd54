// SPDX-License-Identifier: Apache-2.0

package list

import (
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/images"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/transform"
)

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
