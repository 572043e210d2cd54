package main

import (
	"context"
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// maxRequested is the width of a range in a table that is not wide.
const maxRequested = 16

// instances renders the selection for the objects of its instances, and warns of those that are not installed.
func (o *listOptions) instances(ctx context.Context, sources []selection.Source, options render.Options, notes io.Writer) ([]instanceSummary, error) {
	options.AllowEmpty = true
	result, err := render.Render(ctx, sources, options)
	if err != nil {
		return nil, o.placed(err)
	}
	o.warnUnmatched(notes, render.UnmatchedInstances(result.Unresolved))
	return summarizeInstances(o.selection.CatalogSelection, result), nil
}

// instanceGrid returns the instances as a table. The kinds of the objects tell the backends.
func instanceGrid(all []instanceSummary) grid {
	g := grid{header: []string{"INSTANCE", "APPLICATION", "REQUESTED", "VERSION", "NAMESPACE", "OBJECT"}}
	for _, in := range all {
		object := "not installed"
		if in.Object != nil {
			object = in.Object.Kind + "/" + in.Object.Name
		}
		g.rows = append(g.rows, append(instanceRow(in, maxRequested), orDash(in.Namespace), object))
	}
	return g
}

// wideInstanceGrid returns the instances with all columns, uncut.
func wideInstanceGrid(all []instanceSummary) grid {
	g := grid{header: []string{"INSTANCE", "APPLICATION", "REQUESTED", "VERSION", "BACKEND", "NAMESPACE", "OBJECT", "RELEASE", "SOURCE"}}
	for _, in := range all {
		object, release := "not installed: "+in.Reason, "-"
		if in.Object != nil {
			object = in.Object.String()
		}
		if in.Release != nil {
			release = in.Release.StorageNamespace + "/" + in.Release.Name
		}
		g.rows = append(g.rows, append(instanceRow(in, len(in.Requested)), orDash(in.Backend), orDash(in.Namespace), object, release, orDash(in.Source)))
	}
	return g
}

func instanceRow(in instanceSummary, requestedWidth int) []string {
	return []string{in.Name, in.Application, orDash(plaintext.Brief(in.Requested, requestedWidth)), orDash(in.Version)}
}

// installed prints the instances, if there are some, below the applications.
func (l *decisionList) installed(w io.Writer, print func(grid, io.Writer), g func([]instanceSummary) grid) {
	if len(l.Instances) > 0 {
		fmt.Fprintln(w)
		print(g(l.Instances), w)
	}
}
