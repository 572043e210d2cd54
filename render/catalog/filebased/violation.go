package filebased

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
)

// Violation is one thing that is wrong with a catalog.
type Violation struct {
	// Path of the file, as the file system that was loaded has it; "." is its root.
	Path string
	// Document is the number of the document in the file, from 1; 0 for the whole file.
	Document int
	// Line in the file, from 1; 0 when it is unknown.
	Line int
	// Message for people, lower case, without path, document and line.
	Message string
}

// String returns "path:line: document N: message", without what is unknown.
func (v Violation) String() string {
	message := v.Message
	if v.Document > 0 {
		message = fmt.Sprintf("document %d: %s", v.Document, message)
	}
	return finding.Text(v.Path, v.Line, message)
}

// InvalidError says that a catalog's content is wrong.
type InvalidError struct {
	// Violations sorted by path, document, line and message. Never empty.
	Violations []Violation
	// Omitted violations were found as well, but are too many to be kept.
	Omitted int
}

// Error lists the first violations and says how many more there are.
func (e *InvalidError) Error() string {
	return "invalid catalog: " + finding.Violations(e.Violations, e.Omitted)
}

// report collects violations: of each file the first, whatever the number of files.
type report struct {
	kept   []Violation
	counts map[string]int
	total  int
	last   located
}

func (r *report) add(violation Violation) {
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.total++
	r.counts[violation.Path]++
	if r.counts[violation.Path] <= maxFileViolations && len(r.kept) < maxViolations {
		r.kept = append(r.kept, violation)
	}
}

// file reports a violation by a whole file or directory.
func (r *report) file(path string, format string, args ...any) {
	r.add(Violation{Path: path, Message: fmt.Sprintf(format, args...)})
}

// err returns an *InvalidError, or nil when nothing was added.
func (r *report) err() error {
	if r.total == 0 {
		return nil
	}
	slices.SortStableFunc(r.kept, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Message, b.Message))
	})
	return &InvalidError{Violations: slices.Clip(r.kept), Omitted: r.total - len(r.kept)}
}

// quote returns text of the catalog for a message, shortened when it is long.
func quote(text string) string { return excerpt.Quoted(text) }

// nameList lists names of the catalog for a message.
func nameList(all []string) string { return excerpt.List(all, maxNames, quote) }
