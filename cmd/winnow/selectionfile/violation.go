package selectionfile

import (
	"fmt"
	"strings"
)

// Violation is what is wrong with a CatalogSelection.
type Violation struct {
	// Line in the file, 0 where it is not known.
	Line int
	// Field is its path, empty for the document as a whole.
	Field string
	// Message says what is wrong with it, in a line.
	Message string
}

// String returns the violation without its place.
func (v Violation) String() string {
	if v.Field == "" {
		return v.Message
	}
	return v.Field + ": " + v.Message
}

// InvalidError has all that is wrong with the CatalogSelections of a file, by line within a document.
type InvalidError struct {
	// Violations are those that are kept.
	Violations []Violation
	// Omitted is how many more there are.
	Omitted int

	file string
}

// maxViolations bounds those that are kept: lists may have thousands.
const maxViolations = 200

// Error joins the lines.
func (e *InvalidError) Error() string {
	lines := e.Lines()
	if e.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.Omitted))
	}
	return strings.Join(lines, "; ")
}

// add keeps violations within the bound.
func (e *InvalidError) add(violations []Violation, omitted int) {
	kept := min(len(violations), maxViolations-len(e.Violations))
	e.Violations = append(e.Violations, violations[:kept]...)
	e.Omitted += omitted + len(violations) - kept
}

// Lines returns the violations, each with its place if there is a file.
func (e *InvalidError) Lines() []string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = v.String()
		if e.file != "" {
			lines[i] = place(e.file, v.Line) + ": " + lines[i]
		}
	}
	return lines
}

// place returns what terminals and editors open.
func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
