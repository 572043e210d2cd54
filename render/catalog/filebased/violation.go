package filebased

import (
	"fmt"

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

// nameList lists names of the catalog for a message.
func nameList(all []string) string { return excerpt.List(all, maxNames, excerpt.Quoted) }
