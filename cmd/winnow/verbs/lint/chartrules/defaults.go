// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// shared are the keys of values of an application that no chart of its versions reads, with the nearest key of each.
type shared struct {
	unread map[string]string
	// unknown reports whether a chart could not be looked into, so that it may read any.
	unknown bool
}

// unreadDefaults returns the problems with values that all versions of an application share. A version may leave out a value that is for
// another one, so these are values that no version reads.
func unreadDefaults(in Input) (all []Problem) {
	applications := map[string]*shared{}
	for _, r := range in.Renders {
		chart := r.Chart
		if chart.Missing != "" || chart.Failure != nil {
			applications[chart.Application] = &shared{unknown: true}
		}
		for i := range chart.Rendered {
			unread := map[string]string{}
			for _, key := range chart.Rendered[i].Mirrored.Unread {
				if !in.SetBy[chart.Uses[i].Instance][key.Name] {
					unread[key.Name] = key.Nearest
				}
			}
			known := applications[chart.Application]
			if known == nil {
				applications[chart.Application] = &shared{unread: unread}
				continue
			}
			maps.DeleteFunc(known.unread, func(key, _ string) bool { _, both := unread[key]; return !both })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(applications)) {
		if applications[name].unknown {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(applications[name].unread)) {
			c := checker{}
			c.add(Problem{Application: name, Key: key}, lint.UnreadValueRule, rules.Warning,
				"no chart of the application reads the default value %s%s", excerpt.Quoted(key), advice(applications[name].unread[key]))
			all = append(all, c.found...)
		}
	}
	return all
}
