// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

const functionRule = "functions/incomplete"

// incomplete returns what a catalog, nil if it is invalid, should say and does not.
func incomplete(loaded *catalog.Catalog, strict bool) (found []rules.Finding) {
	if loaded == nil {
		return nil
	}
	severity := rules.Warning
	if strict {
		severity = rules.Error
	}
	for _, w := range loaded.Warnings {
		found = append(found, rules.Finding{Rule: functionRule, Severity: severity, Path: w.Path, Line: w.Line, Message: w.Message})
	}
	return found
}

// contentsOf returns the number of applications that are no objects.
func contentsOf(loaded *catalog.Catalog) (count int) {
	if loaded == nil {
		return 0
	}
	for _, a := range loaded.Applications {
		if !a.IsObject() {
			count++
		}
	}
	return count
}
