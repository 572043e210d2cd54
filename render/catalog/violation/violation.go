// SPDX-License-Identifier: Apache-2.0

// Package violation collects the violations of a catalog: Findings has the violations of one file, Report has them
// for all files, and InvalidError is the error with them.
//
// It must not know how a catalog is read.
package violation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/finding"
)

// Rule is what a violation breaks.
type Rule string

// The rules of a catalog.
const (
	// RuleFormat stands for all that has no rule of its own.
	RuleFormat Rule = "format"
	// RuleDuplicateName: no two applications have one name.
	RuleDuplicateName Rule = "duplicate name"
	// RuleDuplicateKind: no two applications of Cozystack have one spec.application.kind.
	RuleDuplicateKind Rule = "duplicate kind"
	// RuleDuplicateVersion: no application lists a version twice.
	RuleDuplicateVersion Rule = "duplicate version"
	// RuleUnknownApplication: a list names applications that exist.
	RuleUnknownApplication Rule = "unknown application"
)

// Violation is one thing that is wrong with a catalog.
type Violation struct {
	Rule Rule
	// Path of the file or directory, as the file system that was loaded has it; "." is its root.
	Path string
	// Line in the file, from 1; 0 when it is unknown.
	Line int
	// Message for people, lower case, without path and line.
	Message string
}

// String returns "path:line: message", without the line when it is unknown.
func (v Violation) String() string {
	return finding.Finding{Path: v.Path, Line: v.Line, Message: v.Message}.String()
}

// InvalidError reports that a catalog's content is wrong.
type InvalidError struct {
	// Violations sorted by path, line and message. Never empty.
	Violations []Violation
	// Omitted violations were found as well, but are too many to be kept.
	Omitted int
}

// Invalid returns the error for a catalog with one violation of the format, by a whole file or directory.
func Invalid(path, format string, args ...any) *InvalidError {
	return &InvalidError{Violations: []Violation{{Rule: RuleFormat, Path: path, Message: fmt.Sprintf(format, args...)}}}
}

// Error lists the first violations, and states how many there are.
func (e *InvalidError) Error() string {
	text := finding.List(e.Violations, e.Omitted)
	if total := len(e.Violations) + e.Omitted; total != 1 {
		text = fmt.Sprintf("%d violations: %s", total, text)
	}
	return "invalid catalog: " + text
}

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

// Add adds a violation of the format. The line is counted in the document, from 1, or 0 when it is unknown.
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

// maxViolations are kept of a catalog, so that they do not fill the memory.
const maxViolations = 1000

// Report collects the violations of a catalog. It keeps those that sort first, whatever the order they come in.
type Report struct {
	kept  []Violation
	total int
}

// Add adds a violation of the format that concerns a whole file or directory.
func (r *Report) Add(path, format string, args ...any) {
	r.AddTo(RuleFormat, path, 0, format, args...)
}

// AddTo adds a violation of a rule of its own.
func (r *Report) AddTo(rule Rule, path string, line int, format string, args ...any) {
	r.keep(Violation{Rule: rule, Path: path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *Report) keep(violation Violation) {
	r.total++
	r.kept = append(r.kept, violation)
	if len(r.kept) >= 2*maxViolations {
		r.trim()
	}
}

// Merge adds the violations of a file.
func (r *Report) Merge(found Findings) {
	for _, violation := range found.Kept {
		r.keep(violation)
	}
	r.total += found.Omitted
}

func (r *Report) trim() {
	slices.SortFunc(r.kept, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	r.kept = r.kept[:min(len(r.kept), maxViolations)]
}

// Err returns an *InvalidError, or nil when nothing was added.
func (r *Report) Err() error {
	if r.total == 0 {
		return nil
	}
	r.trim()
	return &InvalidError{Violations: slices.Clip(r.kept), Omitted: r.total - len(r.kept)}
}
