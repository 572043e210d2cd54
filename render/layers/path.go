// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// presence describes what values have at a path.
type presence int

const (
	// missing: nothing.
	missing presence = iota
	// exact: a leaf.
	exact
	// other: a mapping, or a leaf above the path.
	other
)

// lookup returns the leaf at a path, and what is there.
func lookup(values map[string]any, path []string) (any, presence) {
	var at any = values
	for _, key := range path {
		members, isMapping := at.(map[string]any)
		if !isMapping {
			return nil, other
		}
		below, ok := members[key]
		if !ok {
			return nil, missing
		}
		at = below
	}
	if members, isMapping := at.(map[string]any); isMapping && len(members) > 0 {
		return nil, other
	}
	return at, exact
}

// Leaves returns the leaves of values, sorted by path.
func Leaves(values map[string]any) []Leaf {
	var all []Leaf
	walk(nil, values, &all)
	return all
}

func walk(path []string, values map[string]any, all *[]Leaf) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		below := append(slices.Clone(path), key)
		if members, isMapping := values[key].(map[string]any); isMapping && len(members) > 0 {
			walk(below, members, all)
			continue
		}
		*all = append(*all, Leaf{Path: below, Value: values[key]})
	}
}

// Text returns the path of a leaf: its keys with dots between them, or in brackets where they have other characters.
func (l Leaf) Text() string { return excerpt.Path(l.Path, strconv.Quote) }

// related reports whether one of two paths leads to the other.
func related(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// Split returns the keys of a path in the dot notation of Helm, as far as they are names: an index of a list ends it.
func Split(path string) []string {
	var keys []string
	var key strings.Builder
	escaped := false
	for _, r := range path {
		switch {
		case escaped:
			key.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '[':
			return append(keys, key.String())
		case r == '.':
			keys = append(keys, key.String())
			key.Reset()
		default:
			key.WriteRune(r)
		}
	}
	return append(keys, key.String())
}
