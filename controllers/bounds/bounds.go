// SPDX-License-Identifier: Apache-2.0

// Package bounds fits texts and numbers into the fields of the API: messages of conditions and events,
// the revisions in them, and counts. It must not know their meaning.
package bounds

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Bounds of messages, in bytes. The bound of a condition keeps a catalog with thousands of violations
// from filling etcd; the API itself limits events.
const (
	ConditionMessage = 8 << 10
	EventMessage     = 1000
)

// Truncate replaces what is not printable in s by spaces, cuts s to at most limit bytes, at a rune's boundary, and marks
// the cut. Catalogs, registries and other controllers have written parts of it, and terminals show it.
func Truncate(s string, limit int) string {
	s = excerpt.Printable(s)
	if len(s) <= limit {
		return s
	}
	return excerpt.To(s, limit-len("..."))
}

// Count converts a number of objects to the type of the API. No archive and no cluster has more objects than an
// int32 can count.
func Count(n int) int32 {
	const maximum = 1<<31 - 1
	return int32(min(n, maximum)) //nolint:gosec // bounded in the same expression
}

// ShortRevision cuts the checksum of a revision to twelve digits, which are enough for messages.
func ShortRevision(revision string) string {
	const digits = 12
	if i := strings.LastIndexByte(revision, ':'); i >= 0 && len(revision) > i+1+digits {
		return revision[:i+1+digits]
	}
	return revision
}

// ShortChecksum returns the checksum of the revision of an artifact, cut to twelve digits. The part before it is for
// Flux alone: people would take "latest" for a tag.
func ShortChecksum(revision string) string {
	return ShortRevision(revision[strings.LastIndexByte(revision, '@')+1:])
}

const terminalColumns = 80

// Lines returns the number of terminal lines of fields and lists in the output of kubectl describe; empty ones
// take none.
func Lines(fields []string, lists ...[]string) int {
	lines := 0
	for _, value := range slices.Concat(append(lists, fields)...) {
		if value != "" {
			lines += 1 + len(value)/terminalColumns
		}
	}
	for _, list := range lists {
		lines += min(len(list), 1) // its name
	}
	return lines
}
