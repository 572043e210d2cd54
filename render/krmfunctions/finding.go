// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
)

// maxFindings are kept of the errors of a catalog, and of its warnings.
const maxFindings = 1000

// InvalidError reports a catalog with errors: its findings, in the order of the files. There is at least one.
type InvalidError struct{ finding.Findings }

// Error lists the first errors and the number of the others.
func (e *InvalidError) Error() string { return "invalid catalog of functions: " + e.String() }

// report collects the findings of a file: an error makes a function unusable, a warning names a fact that readers miss.
type report struct {
	path             string
	errors, warnings finding.Findings
}

func (r *report) refuse(line int, format string, args ...any) {
	r.errors.Add(maxFindings, finding.Finding{Path: r.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *report) warn(line int, format string, args ...any) {
	r.warnings.Add(maxFindings, finding.Finding{Path: r.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

// quote returns text of the catalog for a message, cut when it is long.
func quote(text string) string { return excerpt.Quoted(text) }
