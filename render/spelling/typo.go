// SPDX-License-Identifier: Apache-2.0

package spelling

import (
	"slices"
	"strings"
)

const (
	// maxTypo is the number of letters of a name that may be wrong, maxShortTypo the number for a
	// short name, which has at most shortName bytes: "time" is not "tier".
	maxTypo, maxShortTypo = 2, 1
	shortName             = 5
)

// Typo returns the known name that another one is a misspelling of: one that differs in case only, in
// two letters next to each other that are swapped, or in one or two letters. Empty if there is none.
func Typo(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	best, least := "", maxTypo+1
	for _, one := range slices.Sorted(slices.Values(known)) {
		limit := maxTypo
		if len(one) <= shortName {
			limit = maxShortTypo
		}
		if d := mistakes(name, one); d <= limit && d < least {
			best, least = one, d
		}
	}
	return best
}

// mistakes returns the distance of two names. It is one for names that differ in case only, or in two
// swapped letters.
func mistakes(a, b string) int {
	switch {
	case a == b:
		return 0
	case max(len(a), len(b))-min(len(a), len(b)) > maxTypo:
		return maxTypo + 1
	case strings.EqualFold(a, b), swapped(a, b):
		return 1
	}
	return distance(a, b)
}

func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
