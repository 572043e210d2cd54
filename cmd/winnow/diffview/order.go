// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/lists"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// moves returns a line for each selection that receives applications. shown quotes names.
func moves(s *diff.Selection, shown func(string) string) []string {
	to := func(m diff.Move) string {
		if m.ToFile == "" {
			return m.To
		}
		return m.To + " (" + m.ToFile + ")"
	}
	var lines []string
	for _, group := range lists.GroupBy(s.Moves, func(m diff.Move) string { return fmt.Sprint(to(m), m.Unprotected) }) {
		names := each.Map(group, func(m diff.Move) string { return shown(m.Application) })
		list := excerpt.Names(names, maxNames)
		route := "moves from " + shown(s.Namespace+"/"+s.Name) + " to " + shown(to(group[0]))
		switch {
		case group[0].Unprotected:
			lines = append(lines, "MOVE: "+route+", and one of both has spec.push: where Flux pulls what is pushed, Winnow cannot keep it "+
				"alive, so that it is deleted and installed again: "+list)
		case s.Change == diff.Removed:
			lines = append(lines, route+"; keep the Kustomization of the selection that is removed until the other one has applied it: "+list)
		default:
			lines = append(lines, route+"; kept alive by Winnow: "+list)
		}
	}
	return lines
}
