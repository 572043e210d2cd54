// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
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
	var names []string
	for _, condition := range diff.Conditions() {
		if !slices.Contains(without, condition.Name) {
			names = append(names, condition.Name)
		}
	}
	return names
}
