// SPDX-License-Identifier: Apache-2.0

package violation

import "fmt"

// maxFileViolations are kept of a file, so that a broken one does not hide the others.
const maxFileViolations = 100

// Findings are the violations of one file, or of a document of it. The zero value is ready for use once Path is set.
type Findings struct {
	// Path of the file.
	Path string
	// Above is the number of lines of the file above those that are counted.
	Above int
	// Kept are the first that were added.
	Kept []Violation
	// Omitted is the number of the others.
	Omitted int
}

// Add adds a violation of the format. The line is that of the document, from 1, or 0 when it is unknown.
func (f *Findings) Add(line int, format string, args ...any) {
	f.AddTo(RuleFormat, line, format, args...)
}

// AddTo adds a violation of a rule of its own.
func (f *Findings) AddTo(rule Rule, line int, format string, args ...any) {
	if len(f.Kept) == maxFileViolations {
		f.Omitted++
		return
	}
	if line > 0 {
		line += f.Above
	}
	f.Kept = append(f.Kept, Violation{Rule: rule, Path: f.Path, Line: line, Message: fmt.Sprintf(format, args...)})
}
