// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// The named lists of catalogs.

// UnknownListError is returned if Criteria's Lists name lists that no source has.
type UnknownListError struct {
	// Unknown lists, sorted. Never empty.
	Unknown []string
	// Known lists of the sources, sorted.
	Known []string
}

func (e *UnknownListError) Error() string {
	lists := "list"
	if len(e.Unknown) > 1 {
		lists = "lists"
	}
	if len(e.Known) == 0 {
		return fmt.Sprintf("unknown %s %s: the sources have no lists, which belong beside applications, in the same layer", lists, some(e.Unknown))
	}
	var meant []string
	for _, one := range e.Unknown[:min(len(e.Unknown), maxListed)] {
		if near := spelling.Likeliest(one, e.Known); near != "" {
			meant = append(meant, excerpt.Of(near))
		}
	}
	advice := ""
	if len(meant) > 0 {
		advice = "did you mean " + strings.Join(slices.Compact(meant), " and ") + "? "
	}
	return fmt.Sprintf("unknown %s %s: %sthe sources have %s", lists, some(e.Unknown), advice, some(e.Known))
}

// members returns the applications in the given lists of all sources.
func members(sources []Source, lists []string) (map[string]bool, error) {
	listed := map[string]bool{}
	wanted, known := sets.New(lists...), sets.New[string]()
	for _, source := range sources {
		if source.Catalog == nil {
			continue
		}
		for name, applications := range source.Catalog.Lists {
			known.Insert(name)
			for _, application := range applications {
				listed[application] = listed[application] || wanted.Has(name)
			}
		}
	}
	if missing := wanted.Difference(known); len(missing) > 0 {
		return nil, &UnknownListError{Unknown: sets.List(missing), Known: slices.Sorted(maps.Keys(known))}
	}
	return listed, nil
}
