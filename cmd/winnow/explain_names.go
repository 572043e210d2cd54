package main

import (
	"cmp"
	"slices"
	"strings"
)

// maxSuggestions of names are offered.
const maxSuggestions = 3

// nearest returns the names that somebody may have meant, the likeliest first.
func nearest(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, one := range slices.Compact(slices.Sorted(slices.Values(known))) {
		d := distance(name, one)
		if strings.Contains(one, name) || strings.Contains(name, one) {
			d = min(d, 1)
		}
		if d <= max(2, len(name)/3) {
			near = append(near, candidate{one, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, one := range near[:min(len(near), maxSuggestions)] {
		names = append(names, one.name)
	}
	return names
}

// distance is the number of letters to insert, delete or replace.
func distance(a, b string) int {
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		current := make([]int, len(b)+1)
		current[0] = i + 1
		for j := range len(b) {
			replaced := previous[j]
			if a[i] != b[j] {
				replaced++
			}
			current[j+1] = min(replaced, previous[j+1]+1, current[j]+1)
		}
		previous = current
	}
	return previous[len(b)]
}
