// SPDX-License-Identifier: Apache-2.0

package configs

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
)

// maxProblems are kept.
const maxProblems = 100

// InvalidError reports what keeps functions from being resolved, in the order in which kustomize reads the files. The paths
// are those by which people reach the files. There is at least one finding.
type InvalidError struct{ finding.Findings }

// Error lists all of them.
func (e *InvalidError) Error() string {
	return excerpt.Clauses(e.Kept, len(e.Kept), e.Omitted, finding.Finding.String)
}

// Add adds a problem in a file below the root, which is formatted as by fmt.Sprintf. It adds each once: a base may be used more
// than once.
func (w *Walk) Add(file string, line int, format string, args ...any) {
	one := finding.Finding{Path: w.Show(file), Line: line, Message: fmt.Sprintf(format, args...)}
	if !w.reported[one] {
		w.reported[one] = len(w.problems.Kept) < maxProblems
		w.problems.Add(maxProblems, one)
	}
}

// Err returns the problems as an *InvalidError, nil without any.
func (w *Walk) Err() error {
	if len(w.problems.Kept) == 0 {
		return nil
	}
	return &InvalidError{w.problems}
}
