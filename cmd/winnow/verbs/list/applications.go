// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
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

// resourceName returns the name of an object as kubectl's -o name prints it, which kubectl get takes.
func resourceName(apiVersion, kind, name string) string {
	resource := strings.ToLower(kind)
	if group, _, grouped := strings.Cut(apiVersion, "/"); grouped {
		resource += "." + group
	}
	return resource + "/" + name
}

// versionsColumn returns up to three versions, and of more the first, the last and the number.
func versionsColumn(versions []string) string {
	switch n := len(versions); {
	case n == 0:
		return "-"
	case n <= 3:
		return strings.Join(versions, ", ")
	default:
		return fmt.Sprintf("%s ... %s (%d)", versions[0], versions[n-1], n)
	}
}

func yesNo(value bool) string {
	if value {
		return "yes"
	}
	return "no"
}

// decisionList is the output of list with a selection.
type decisionList struct {
	output.Document
	Available    int              `json:"available"`
	Selected     int              `json:"selected"`
	Shadowed     int              `json:"shadowed"`
	Applications []listedDecision `json:"applications"`
	// Instances of the spec.
	Instances []report.Instance `json:"instances,omitempty"`
	*report.References

	several bool // the selection has several sources
}

type listedDecision struct {
	report.Decision
	report.Referring

	resource string
}

func newDecisionList(result selection.Result, several bool) *decisionList {
	list := &decisionList{
		Document:  output.NewDocument("DecisionList"),
		Available: result.Available, Selected: result.Selected, Shadowed: result.Shadowed,
		Applications: make([]listedDecision, 0, len(result.Decisions)), several: several,
	}
	for _, decision := range result.Decisions {
		a := decision.Application
		list.Applications = append(list.Applications, listedDecision{
			Decision: report.Summarize(decision), resource: resourceName(a.APIVersion, a.Kind, a.Name),
		})
	}
	return list
}

// refer adds the references of the selected applications, with the mirrors of the selection.
func (l *decisionList) refer(ctx context.Context, selected []selection.Decision, opts render.Options, notes io.Writer) error {
	all, each, err := report.Refer(ctx, selected, opts, notes)
	if err != nil {
		return err
	}
	l.References = all
	for i := range l.Applications {
		if l.Applications[i].Selected {
			l.Applications[i].Referring, each = each[0], each[1:]
		}
	}
	return nil
}

func (l *decisionList) Table(w io.Writer) {
	g := output.Grid{Header: []string{"NAME", "SELECTED", "RULE", "VERSIONS"}}
	if l.several {
		g.Header = append(g.Header, "SOURCE")
	}
	for _, a := range l.Applications {
		row := []string{a.Name, yesNo(a.Selected), a.Rule, versionsColumn(report.LabelsOf(a.Versions, a.Facts))}
		if l.several {
			row = append(row, a.Source)
		}
		g.Rows = append(g.Rows, row)
	}
	g.Print(w)
	if repaired := l.repaired(); repaired != "" {
		fmt.Fprintf(w, "\n%s\n", plaintext.Wrap(repaired, ""))
	}
	l.installed(w, instanceGrid)
}

func (l *decisionList) Wide(w io.Writer) {
	g := output.Grid{Header: []string{"NAME", "SELECTED", "RULE", "VERSIONS", "SOURCE", "TIER", "DROPPED", "DEPRECATED"}}
	merges := slices.ContainsFunc(l.Applications, func(a listedDecision) bool { return len(a.Merged) > 0 })
	if merges {
		g.Header = append(g.Header, "MERGED")
	}
	for _, a := range l.Applications {
		row := []string{
			a.Name, yesNo(a.Selected), a.Rule, report.WithFacts(a.Versions, a.Facts), a.Source, output.OrDash(a.Tier), report.WithFacts(a.Dropped, a.Facts), output.OrDash(a.Deprecated),
		}
		if merges {
			row = append(row, report.MergedColumn(a.Merged))
		}
		g.Rows = append(g.Rows, row)
	}
	g.Print(w)
	for _, a := range l.Applications {
		for _, repair := range report.RepairLines(a.Repairs) {
			fmt.Fprintln(w, plaintext.Line("repair: "+repair))
		}
	}
	l.installed(w, wideInstanceGrid)
}

// Names returns the selected applications, and the objects that install the instances.
func (l *decisionList) Names() []string {
	var names []string
	for _, a := range l.Applications {
		if a.Selected {
			names = append(names, a.resource)
		}
	}
	for _, in := range l.Instances {
		if o := in.Object; o != nil {
			names = append(names, resourceName(o.APIVersion, o.Kind, o.Name))
		}
	}
	return names
}

// repaired names the applications with repairs; empty without any.
func (l *decisionList) repaired() string {
	var names []string
	for _, a := range l.Applications {
		if n := len(a.Repairs); n > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", a.Name, n))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Channels with other versions than the rules ask for, so that they stay valid: " + excerpt.Names(names, report.MaxListed) + ". winnow explain has each."
}

// installed prints the instances, if there are some, below the applications.
func (l *decisionList) installed(w io.Writer, grid func([]report.Instance) output.Grid) {
	if len(l.Instances) > 0 {
		fmt.Fprintln(w)
		grid(l.Instances).Print(w)
	}
}

// instanceGrid returns the instances as a table. The kinds of the objects tell the backends.
func instanceGrid(all []report.Instance) output.Grid {
	g := output.Grid{Header: []string{"INSTANCE", "APPLICATION", "REQUESTED", "VERSION", "NAMESPACE", "OBJECT"}}
	for _, in := range all {
		object := "not installed"
		if in.Object != nil {
			object = in.Object.Kind + "/" + in.Object.Name
		}
		g.Rows = append(g.Rows, append(instanceRow(in, maxRequested), output.OrDash(in.Namespace), object))
	}
	return g
}

// maxRequested is the width of a range in a table that is not wide.
const maxRequested = 16

// wideInstanceGrid returns the instances with all columns, uncut.
func wideInstanceGrid(all []report.Instance) output.Grid {
	g := output.Grid{Header: []string{"INSTANCE", "APPLICATION", "REQUESTED", "VERSION", "BACKEND", "NAMESPACE", "OBJECT", "RELEASE", "SOURCE"}}
	for _, in := range all {
		object, release := "not installed: "+in.Reason, "-"
		if in.Object != nil {
			object = in.Object.String()
		}
		if in.Release != nil {
			release = in.Release.StorageNamespace + "/" + in.Release.Name
		}
		g.Rows = append(g.Rows, append(instanceRow(in, len(in.Requested)), output.OrDash(in.Backend), output.OrDash(in.Namespace), object, release, output.OrDash(in.Source)))
	}
	return g
}

func instanceRow(in report.Instance, requestedWidth int) []string {
	return []string{in.Name, in.Application, output.OrDash(plaintext.Brief(in.Requested, requestedWidth)), output.OrDash(in.Version)}
}
