// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
)

// Unread is something that could not be read.
type Unread struct {
	// Where it is: a catalog, a cluster or a file; empty for what is of no place.
	Where, Reason string
}

// Cause is why things could not be read, with their places.
type Cause struct {
	Reason string
	// Remedy is what people can do, empty where that depends.
	Remedy string
	Places []string
}

// CausesOf groups what could not be read by its reason, the most frequent first.
func CausesOf(all []Unread) (causes []Cause) {
	for _, group := range each.Group(all, func(u Unread) string { return u.Reason }) {
		c := Cause{Reason: group[0].Reason, Remedy: remedyOf(group[0].Reason)}
		places := each.Map(group, func(u Unread) string { return u.Where })
		c.Places = each.Where(places, func(where string) bool { return where != "" })
		causes = append(causes, c)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(len(b.Places), len(a.Places)) })
	return causes
}

// remedyOf maps parts of errors of registries, in lower case, to what helps. The first that fits counts. The sentences of Winnow, such
// as on a range or a variable, have their own advice.
func remedyOf(reason string) string {
	for _, r := range [][2]string{
		{"unauthorized", "Log in to the registry: winnow reads Docker's configuration."},
		{"denied", "Log in to the registry: winnow reads Docker's configuration."},
		{"http response to https", "Pass --plain-http for a registry without TLS."},
		{"certificate", "Pass --ca-file with the authority of the registry."},
		{"not found", "Correct the tag or the digest in Git, or push it."},
		{"connection refused", "Is the registry up, and reachable from here?"},
		{"did not answer", "Is the registry up, and reachable from here?"},
		{"no such host", "Is the registry up, and reachable from here?"},
		{"--repository", "Pass --repository, as it says."},
	} {
		if strings.Contains(strings.ToLower(reason), r[0]) {
			return r[1]
		}
	}
	return ""
}

// String returns the place, if there is one, and the reason.
func (u Unread) String() string {
	if u.Where == "" {
		return u.Reason
	}
	return u.Where + ": " + u.Reason
}
