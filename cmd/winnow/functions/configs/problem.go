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

// problems collects problems, each once: a base may be used more than once.
type problems struct {
	found finding.Findings
	known map[finding.Finding]bool
}

// Add adds a problem, which is formatted as by fmt.Sprintf.
func (p *problems) Add(path string, line int, format string, args ...any) {
	one := finding.Finding{Path: path, Line: line, Message: fmt.Sprintf(format, args...)}
	switch {
	case p.known[one]:
		return
	case p.known == nil:
		p.known = map[finding.Finding]bool{}
	}
	p.known[one] = len(p.found.Kept) < maxProblems
	p.found.Add(maxProblems, one)
}

// Err returns the problems as an *InvalidError, nil without any.
func (p *problems) Err() error {
	if len(p.found.Kept) == 0 {
		return nil
	}
	return &InvalidError{p.found}
}
