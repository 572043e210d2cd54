// SPDX-License-Identifier: Apache-2.0

package violation

import (
	"cmp"
	"fmt"
	"slices"
)

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
