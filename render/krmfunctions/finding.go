package krmfunctions

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
)

// maxFindings are kept of the errors of a catalog, and of its warnings.
const maxFindings = 1000

// Severity of a finding.
type Severity string

// An error makes a function unusable. A warning is about what a function should say of itself; a strict check takes it
// for an error.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing that is wrong with a catalog.
type Finding struct {
	Severity Severity
	// Path of the file and Line in it, from 1; 0 when it is unknown.
	Path string
	Line int
	// Message for people, lower case, without path and line.
	Message string
}

// String returns "path:line: message", without the line when it is unknown.
func (f Finding) String() string {
	return finding.Text(f.Path, f.Line, f.Message)
}

// InvalidError reports a catalog with errors.
type InvalidError struct {
	// Findings are the errors, in the order of the files. Never empty.
	Findings []Finding
	// Omitted errors were found as well, but are too many to be kept.
	Omitted int
}

// Error lists the first errors and the number of the others.
func (e *InvalidError) Error() string {
	return "invalid catalog of functions: " + finding.List(e.Findings, e.Omitted)
}

// Errors returns the errors one by one.
func (e *InvalidError) Errors() []error {
	return finding.Errors(e.Findings, e.Omitted)
}

// report collects findings.
type report struct {
	path             string
	errors, warnings []Finding
	// omitted are the numbers of findings that are not kept.
	omittedErrors, omittedWarnings int
}

func (r *report) refuse(line int, format string, args ...any) {
	if len(r.errors) == maxFindings {
		r.omittedErrors++
		return
	}
	r.errors = append(r.errors, Finding{Error, r.path, line, fmt.Sprintf(format, args...)})
}

func (r *report) warn(line int, format string, args ...any) {
	if len(r.warnings) == maxFindings {
		r.omittedWarnings++
		return
	}
	r.warnings = append(r.warnings, Finding{Warning, r.path, line, fmt.Sprintf(format, args...)})
}

// quote returns text of the catalog for a message, cut when it is long.
func quote(text string) string { return excerpt.Quoted(text) }
