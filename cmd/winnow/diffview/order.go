// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/lists"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// transientAdvice returns the advice on how to split a change whose parts reach the cluster one after the other.
func transientAdvice(advice diff.Advice) string {
	const why = "Flux applies the edit of the selection before it has pulled the new catalog. Winnow waits for sources that " +
		"Flux is about to pull, and cannot know of one that Flux applies later. Split the change into pull requests: "
	if advice == diff.CatalogFirst {
		return why + "first the catalog (the tag or digest of the source), then the edit of the selection."
	}
	return why + "first an edit of the selection that selects the same over both catalogs (such as the old and the new tier), " +
		"then the catalog, then the rest of the edit. The catalog first would lose something as well."
}

// lossLine describes the loss of an application or of its versions.
func lossLine(l diff.Loss) string {
	if l.Change == diff.Removed {
		return "would be removed, because " + l.Reason
	}
	return "versions would be removed: " + strings.Join(l.Versions, ", ")
}

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
		var names []string
		for _, m := range group {
			names = append(names, shown(m.Application))
		}
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
