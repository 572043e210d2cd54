// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

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
