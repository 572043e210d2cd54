// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

// Held are changes that the safeguards hold until a line approves them.
type Held struct {
	// Where are the clusters, or the files, that have the same changes with the same approval.
	Where []string
	// Object is the kind and name of what approves them.
	Object string
	// Reasons describe the changes.
	Reasons []string
	// Lines of YAML approve them; empty where nothing can.
	Lines string
	// File takes the lines, as they are written there; empty where Advice says why there is none.
	File, Advice string
}

// heldOf maps the places of selections to what is held, by the names of applications.
func heldOf(report *diff.Report) map[diff.Place]map[string][]string {
	all := map[diff.Place]map[string][]string{}
	for _, s := range report.Held() {
		changes := map[string][]string{}
		for _, r := range s.Held.Reasons {
			changes[r.Application] = append(changes[r.Application], r.Message)
		}
		all[s.Place()] = changes
	}
	return all
}

// newHeld returns what is held, in the order of the report.
func newHeld(report *diff.Report) (all []Held) {
	places := map[string]int{}
	for _, s := range report.Held() {
		object := cmp.Or(s.Place().Kind, "CatalogSelection") + " " + strings.TrimPrefix(s.Namespace+"/"+s.Name, "/")
		h := Held{Object: object, File: s.Held.File, Advice: s.Held.Advice}
		for _, r := range s.Held.Reasons {
			h.Reasons = append(h.Reasons, strings.TrimPrefix(r.Application+": "+r.Message, ": "))
		}
		if len(s.Held.Approve) > 0 {
			h.Lines = s.Held.YAML(s.Promotion, len(s.Held.Approve))
		}
		key := fmt.Sprintf("%q", []string{h.Object, strings.Join(h.Reasons, "\n"), h.Lines, h.File, h.Advice})
		i, known := places[key]
		if !known {
			i, places[key] = len(all), len(all)
			all = append(all, h)
		}
		all[i].Where = append(all[i].Where, cmp.Or(s.Cluster, s.File))
	}
	for i := range all {
		slices.Sort(all[i].Where)
	}
	return all
}
