package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
)

const (
	// maxViolations are kept of a catalog, and maxFileViolations of one of its files, so that
	// one broken file hides neither the others nor fills the memory.
	maxViolations     = 1000
	maxFileViolations = 100
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
	return finding.Text(v.Path, v.Line, v.Message)
}

// InvalidError says that a catalog's content is wrong.
type InvalidError struct {
	// Violations sorted by path, line and message. Never empty.
	Violations []Violation
	// Omitted violations were found as well, but are too many to be kept.
	Omitted int
}

// Error lists the first violations and says how many more there are.
func (e *InvalidError) Error() string {
	return "invalid catalog: " + finding.Violations(e.Violations, e.Omitted)
}

// report collects violations. It keeps those that sort first, whatever the order they come in.
type report struct {
	kept  []Violation
	total int
}

// add adds a violation of the format by a whole file or directory.
func (r *report) add(path, format string, args ...any) {
	r.addTo(RuleFormat, path, 0, format, args...)
}

// addTo adds a violation of a rule of its own.
func (r *report) addTo(rule Rule, path string, line int, format string, args ...any) {
	r.keep(Violation{Rule: rule, Path: path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *report) keep(violation Violation) {
	r.total++
	r.kept = append(r.kept, violation)
	if len(r.kept) >= 2*maxViolations {
		r.trim()
	}
}

func (r *report) merge(found findings) {
	for _, violation := range found.kept {
		r.keep(violation)
	}
	r.total += found.omitted
}

func (r *report) trim() {
	slices.SortFunc(r.kept, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	r.kept = r.kept[:min(len(r.kept), maxViolations)]
}

// err returns an *InvalidError, or nil when nothing was added.
func (r *report) err() error {
	if r.total == 0 {
		return nil
	}
	r.trim()
	return &InvalidError{Violations: slices.Clip(r.kept), Omitted: r.total - len(r.kept)}
}

// findings are the violations of one file, or of a document of it.
type findings struct {
	path    string
	above   int // lines of the file above those that are counted
	kept    []Violation
	omitted int
}

func (f *findings) add(line int, format string, args ...any) {
	f.addTo(RuleFormat, line, format, args...)
}

// addTo adds a violation of a rule of its own.
func (f *findings) addTo(rule Rule, line int, format string, args ...any) {
	if len(f.kept) == maxFileViolations {
		f.omitted++
		return
	}
	if line > 0 {
		line += f.above
	}
	f.kept = append(f.kept, Violation{Rule: rule, Path: f.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

// quote returns text of the catalog for a message, shortened when it is long.
func quote(text string) string { return excerpt.Quoted(text) }
