// SPDX-License-Identifier: Apache-2.0

package list

import (
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
)

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
