// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Lists of names, of the spec and of the catalogs, as texts of reasons.

// maxListed bounds the elements of a list in a message, which is written to conditions.
const maxListed = 10

// some lists the first of many values.
func some(values []string) string {
	return excerpt.List(values, maxListed, excerpt.Of)
}

// anyOf lists values, sorted: their order in the spec has no meaning.
func anyOf(values []string) string {
	quoted := each.Map(slices.Compact(slices.Sorted(slices.Values(values))), func(value string) string { return fmt.Sprintf("%q", value) })
	return strings.Join(quoted, " or ")
}
