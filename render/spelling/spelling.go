// SPDX-License-Identifier: Apache-2.0

// Package spelling finds the known names that resemble a misspelt one. It is pure, and must not know what
// the names stand for.
package spelling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
)

const (
	// maxSuggestions bounds the names that Nearest returns.
	maxSuggestions = 3
	// maxName bounds, in bytes, the names that are compared: names are untrusted, and the time grows with
	// the square of their length.
	maxName = 128
)

// Meant returns ": did you mean A or B?" for the known names that resemble name; nothing without one.
func Meant(name string, known []string) string {
	near := Nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// Likeliest returns the known name that resembles name most; empty if none does.
func Likeliest(name string, known []string) string {
	near := Nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return near[0]
}

// Nearest returns the known names that resemble name, the likeliest first.
func Nearest(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	if len(name) < 2 || len(name) > maxName { // a single letter is a part of anything
		return nil
	}
	limit := min(max(2, len(name)/3), len(name)-1)
	var near []candidate
	for _, one := range slices.Compact(slices.Sorted(slices.Values(known))) {
		if len(one) > maxName {
			continue
		}
		longer, d := max(len(one), len(name))-min(len(one), len(name)), limit+1
		switch {
		case min(len(one), len(name)) > limit && (strings.Contains(one, name) || strings.Contains(name, one)):
			d = min(longer, limit) // a part, however much there is beside it
		case longer <= limit:
			d = distance(name, one)
		}
		if d <= limit {
			near = append(near, candidate{one, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	return each.Map(near[:min(len(near), maxSuggestions)], func(one candidate) string { return one.name })
}

// distance returns the number of letters to insert, delete or replace.
func distance(a, b string) int {
	previous, current := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		current[0] = i + 1
		for j := range len(b) {
			replaced := previous[j]
			if a[i] != b[j] {
				replaced++
			}
			current[j+1] = min(replaced, previous[j+1]+1, current[j]+1)
		}
		previous, current = current, previous
	}
	return previous[len(b)]
}
