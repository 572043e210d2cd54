// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// decided returns what a reviewer decides on besides what is held: the edit, and the moves.
func decided(s *diff.Selection) []block {
	loosened := block{title: bold("LOOSENED: the edit of the selection protects less"), indent: "  ", whole: true}
	loosened.list = each.Map(s.Loosened, func(l diff.Loosened) entry {
		return entry{text: l.Field + " " + l.From + " -> " + l.To + ": " + l.Effect}
	})
	var moved block
	comment := moves(s, code)
	for i, line := range moves(s, plaintext.Line) {
		moved.sentences = append(moved.sentences, wording{line, comment[i]})
	}
	return []block{listing(loosened), risks(s.Charts), moved}
}

// changedLists returns the lists of the catalog that change.
func changedLists(s *diff.Selection) block {
	return listing(block{title: wording{comment: "Lists that change:"}, list: fieldEntries(wording{terminal: "list "}, s.Lists, 0)})
}

// offline returns what is not known of classes without --live.
func offline(classes ...diff.Class) block {
	if !slices.ContainsFunc(classes, func(c diff.Class) bool { return slices.ContainsFunc(c.Members(), withoutCluster) }) {
		return block{}
	}
	return block{title: wording{offlineNote, strings.Replace(offlineNote, "--live", "`--live`", 1)}}
}

// remainder returns what follows the applications.
func remainder(s *diff.Selection) []block {
	var blocks []block
	if len(s.Replaced) > 0 {
		blocks = append(blocks, settings(s.Replaced, s.Keep))
	}
	if len(s.Bypassed) > 0 {
		blocks = append(blocks, block{title: wording{
			"bypassed in the cluster: " + strings.Join(s.Bypassed, ", "), "Bypassed in the cluster: " + codes(s.Bypassed),
		}})
	}
	return blocks
}

// moves returns a line for each selection that receives applications. shown quotes names.
func moves(s *diff.Selection, shown func(string) string) []string {
	to := func(m diff.Move) string {
		if m.ToFile == "" {
			return m.To
		}
		return m.To + " (" + m.ToFile + ")"
	}
	groups := each.Group(s.Moves, func(m diff.Move) string { return fmt.Sprint(to(m), m.Unprotected) })
	return each.Map(groups, func(group []diff.Move) string {
		list := excerpt.List(group, maxNames, func(m diff.Move) string { return shown(m.Application) })
		route := "moves from " + shown(s.Namespace+"/"+s.Name) + " to " + shown(to(group[0]))
		switch {
		case group[0].Unprotected:
			return "MOVE: " + route + ", and Winnow may not keep it alive, so that it is deleted and installed again: " +
				"one of both has spec.push or a kubeConfig, or the Kustomization of the first one changes: " + list
		case s.Change == diff.Removed:
			return route + "; keep the Kustomization of the selection that is removed until the other one has applied it: " + list
		}
		return route + "; kept alive by Winnow: " + list
	})
}
