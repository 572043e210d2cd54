// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// Conditions returns the lines of a help on the names.
func Conditions() string {
	var table strings.Builder
	for _, condition := range diff.Conditions() {
		fmt.Fprintf(&table, "    %-16s %s\n", condition.Name, condition.Summary)
	}
	return table.String()
}

// ConditionNames returns the names of diff.Conditions, except the given ones.
func ConditionNames(without ...string) []string {
	names := each.Map(diff.Conditions(), func(c diff.Condition) string { return c.Name })
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(without, name) })
}
