package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

// decisionList is the output of list with a selection.
type decisionList struct {
	document
	Available    int              `json:"available"`
	Selected     int              `json:"selected"`
	Shadowed     int              `json:"shadowed"`
	Applications []listedDecision `json:"applications"`
	// Instances of the spec.
	Instances []instanceSummary `json:"instances,omitempty"`
	*references

	several bool // the selection has several sources
}

type listedDecision struct {
	decisionSummary
	referring

	resource string
}

func newDecisionList(result selection.Result, several bool) *decisionList {
	list := &decisionList{
		document:  newDocument("DecisionList"),
		Available: result.Available, Selected: result.Selected, Shadowed: result.Shadowed,
		Applications: make([]listedDecision, 0, len(result.Decisions)), several: several,
	}
	for _, decision := range result.Decisions {
		a := decision.Application
		list.Applications = append(list.Applications, listedDecision{
			decisionSummary: summarize(decision), resource: resourceName(a.APIVersion, a.Kind, a.Name),
		})
	}
	return list
}

// refer adds the references of the selected applications, with the mirrors of the selection.
func (l *decisionList) refer(ctx context.Context, selected []selection.Decision, opts render.Options, notes io.Writer) error {
	all, each, err := refer(ctx, selected, opts, notes)
	if err != nil {
		return err
	}
	l.references = all
	for i := range l.Applications {
		if l.Applications[i].Selected {
			l.Applications[i].referring, each = each[0], each[1:]
		}
	}
	return nil
}

func (l *decisionList) grid() grid {
	g := grid{header: []string{"NAME", "SELECTED", "RULE", "VERSIONS"}}
	if l.several {
		g.header = append(g.header, "SOURCE")
	}
	for _, a := range l.Applications {
		row := []string{a.Name, yesNo(a.Selected), a.Rule, versionsColumn(labelsOf(a.Versions, a.Facts))}
		if l.several {
			row = append(row, a.Source)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

func (l *decisionList) wide(w io.Writer) {
	g := grid{header: []string{"NAME", "SELECTED", "RULE", "VERSIONS", "SOURCE", "TIER", "DROPPED", "DEPRECATED"}}
	merges := slices.ContainsFunc(l.Applications, func(a listedDecision) bool { return len(a.Merged) > 0 })
	if merges {
		g.header = append(g.header, "MERGED")
	}
	for _, a := range l.Applications {
		row := []string{
			a.Name, yesNo(a.Selected), a.Rule, withFacts(a.Versions, a.Facts), a.Source, orDash(a.Tier), withFacts(a.Dropped, a.Facts), orDash(a.Deprecated),
		}
		if merges {
			row = append(row, mergedColumn(a.Merged))
		}
		g.rows = append(g.rows, row)
	}
	g.print(w)
	for _, repair := range l.repairs() {
		fmt.Fprintln(w, repair)
	}
	l.installed(w, grid.print, wideInstanceGrid)
}

// names returns the selected applications, and the objects that install the instances.
func (l *decisionList) names() []string {
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

// repairs returns the repairs of all applications for people.
func (l *decisionList) repairs() []string {
	var all []string
	for _, a := range l.Applications {
		for _, repair := range repairLines(a.Repairs) {
			all = append(all, plaintext.Line("repair: "+repair))
		}
	}
	return all
}

// repaired says that there are repairs, and of which applications; empty without any.
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
	return "Channels with other versions than the rules ask for, so that they stay valid: " + excerpt.Names(names, maxListed) + ". winnow explain has each."
}

func yesNo(value bool) string {
	if value {
		return "yes"
	}
	return "no"
}

func (l *decisionList) table(w io.Writer) {
	l.grid().print(w)
	if repaired := l.repaired(); repaired != "" {
		fmt.Fprintf(w, "\n%s\n", plaintext.Wrap(repaired, ""))
	}
	l.installed(w, grid.print, instanceGrid)
}

func (l *decisionList) markdown(w io.Writer) {
	l.grid().markdown(w)
	for i, repair := range l.repairs() {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s\n", escapeMarkdown(repair))
	}
	l.installed(w, grid.markdown, wideInstanceGrid)
}
