// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
)

// Violation is a rule that a CatalogSelection breaks.
type Violation struct {
	// Line in the file, 0 if it is unknown.
	Line int
	// Field is its path, empty for the document as a whole.
	Field string
	// Message describes the violation in a line.
	Message string
}

// String returns the violation without its line.
func (v Violation) String() string {
	if v.Field == "" {
		return v.Message
	}
	return v.Field + ": " + v.Message
}

// InvalidError holds the violations of the CatalogSelections of a file, by line within a document.
type InvalidError struct {
	// Violations are the first ones, up to a maximum.
	Violations []Violation
	// Omitted is the number of further violations.
	Omitted int

	file string
}

// maxViolations bounds InvalidError.Violations: lists may have thousands.
const maxViolations = 200

// Error joins the lines.
func (e *InvalidError) Error() string {
	return excerpt.Clauses(e.Lines(), maxViolations, e.Omitted, strings.Clone)
}

// add appends violations up to maxViolations and counts the others.
func (e *InvalidError) add(violations []Violation, omitted int) {
	kept := min(len(violations), maxViolations-len(e.Violations))
	e.Violations = append(e.Violations, violations[:kept]...)
	e.Omitted += omitted + len(violations) - kept
}

// Lines returns the violations, each with its file and line if there is a file.
func (e *InvalidError) Lines() []string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = v.String()
		if e.file != "" {
			lines[i] = finding.Finding{Path: e.file, Line: v.Line, Message: lines[i]}.String()
		}
	}
	return lines
}
