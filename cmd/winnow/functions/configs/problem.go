package configs

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/finding"
)

// maxProblems are kept.
const maxProblems = 100

// Problem is one thing to change in a file.
type Problem struct {
	// Path of the file, as people reach it, and Line in it; 0 when it is unknown.
	Path    string
	Line    int
	Message string
}

// String returns "path:line: message", without the line when it is unknown.
func (p Problem) String() string {
	return finding.Text(p.Path, p.Line, p.Message)
}

// InvalidError reports what keeps functions from being resolved.
type InvalidError struct {
	// Problems in the order in which kustomize reads the files. Never empty.
	Problems []Problem
	// Omitted problems were found as well, but are too many to be kept.
	Omitted int
}

// Error lists all problems.
func (e *InvalidError) Error() string {
	var lines []string
	for _, one := range e.Errors() {
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "; ")
}

// Errors returns the problems one by one.
func (e *InvalidError) Errors() []error {
	return finding.Errors(e.Problems, e.Omitted)
}

// problems collects problems, each once: a base may be used more than once.
type problems struct {
	kept    []Problem
	known   map[Problem]bool
	omitted int
}

// Add adds a problem, which is formatted as by fmt.Sprintf. Path and line are those of Problem.
func (p *problems) Add(path string, line int, format string, args ...any) {
	one := Problem{path, line, fmt.Sprintf(format, args...)}
	switch {
	case p.known[one]:
		return
	case len(p.kept) == maxProblems:
		p.omitted++
		return
	case p.known == nil:
		p.known = map[Problem]bool{}
	}
	p.known[one] = true
	p.kept = append(p.kept, one)
}

// Err returns the problems as an *InvalidError, nil without any.
func (p *problems) Err() error {
	if len(p.kept) == 0 {
		return nil
	}
	return &InvalidError{Problems: p.kept, Omitted: p.omitted}
}
