// SPDX-License-Identifier: Apache-2.0

package list

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
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
	var names []string
	for _, i := range l.Images {
		if i.Unknown == "" {
			names = append(names, i.From)
		}
	}
	return slices.Compact(names)
}
