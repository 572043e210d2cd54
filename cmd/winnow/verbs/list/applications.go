// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"io"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// applicationList is the output of list without a selection.
type applicationList struct {
	output.Document
	Applications []listedApplication `json:"applications"`
	*report.References
}

type listedApplication struct {
	Name       string   `json:"name"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Tier       string   `json:"tier,omitempty"`
	Versions   []string `json:"versions"`
	Deprecated string   `json:"deprecated,omitempty"`
	Path       string   `json:"path"`
	// Facts on the versions.
	Facts []report.VersionFacts `json:"facts,omitempty"`
	report.Referring
}

func newApplicationList(c *catalog.Catalog) *applicationList {
	list := &applicationList{Document: output.NewDocument("ApplicationList"), Applications: make([]listedApplication, 0, len(c.Applications))}
	for _, a := range c.Applications {
		list.Applications = append(list.Applications, listedApplication{
			Name: a.Name, APIVersion: a.APIVersion, Kind: a.Kind, Path: a.Path, Tier: a.Metadata.Tier,
			Versions: report.Listed(a.Versions), Deprecated: a.Metadata.Deprecated, Facts: report.FactsOf(a),
		})
	}
	return list
}

// refer adds the references of all applications, without mirrors.
func (l *applicationList) refer(ctx context.Context, c *catalog.Catalog, notes io.Writer) error {
	all, referring, err := report.Refer(ctx, report.Everything(c), render.Options{}, notes)
	if err != nil {
		return err
	}
	l.References = all
	for i := range referring {
		l.Applications[i].Referring = referring[i]
	}
	return nil
}

func (l *applicationList) Table(w io.Writer) {
	g := output.Grid{Header: []string{"NAME", "TIER", "VERSIONS", "DEPRECATED"}}
	for _, a := range l.Applications {
		g.Rows = append(g.Rows, []string{a.Name, output.OrDash(a.Tier), versionsColumn(report.LabelsOf(a.Versions, a.Facts)), output.OrDash(plaintext.Brief(a.Deprecated, 30))})
	}
	g.Print(w)
}

func (l *applicationList) Wide(w io.Writer) {
	g := output.Grid{Header: []string{"NAME", "TIER", "VERSIONS", "DEPRECATED", "APIVERSION", "PATH"}}
	for _, a := range l.Applications {
		g.Rows = append(g.Rows, []string{a.Name, output.OrDash(a.Tier), report.WithFacts(a.Versions, a.Facts), output.OrDash(a.Deprecated), a.APIVersion, a.Path})
	}
	g.Print(w)
}

func (l *applicationList) Names() []string {
	return each.Map(l.Applications, func(a listedApplication) string { return resourceName(a.APIVersion, a.Kind, a.Name) })
}
