// SPDX-License-Identifier: Apache-2.0

// Package finding formats findings in files, with the path and the line. It must not know what is in the files.
package finding

import (
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxListed findings are part of an error's text: it ends up in conditions and events.
const maxListed = 20

// Position returns "path:line", which terminals and editors open, without the line when it is 0.
func Position(path string, line int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// Finding is one thing that is wrong in a file.
type Finding struct {
	// Path of the file and Line in it, from 1; 0 when it is unknown.
	Path string
	Line int
	// Message for people, lower case, without path and line.
	Message string
}

// String returns "path:line: message", without the line when it is unknown.
func (f Finding) String() string { return Position(f.Path, f.Line) + ": " + f.Message }

// Findings are the first findings of many.
type Findings struct {
	Kept []Finding
	// Omitted findings were made as well, but not kept.
	Omitted int
}

// Add keeps a finding, or counts it as omitted if limit are kept.
func (f *Findings) Add(limit int, one Finding) {
	if len(f.Kept) >= limit {
		f.Omitted++
		return
	}
	f.Kept = append(f.Kept, one)
}

// AddAll adds the findings of others, with those that they have omitted.
func (f *Findings) AddAll(limit int, others Findings) {
	f.Omitted += others.Omitted
	for _, one := range others.Kept {
		f.Add(limit, one)
	}
}

// String lists the first 20 findings, and the number of the others.
func (f Findings) String() string { return List(f.Kept, f.Omitted) }

// Errors returns the findings one by one, and last the number of those that were omitted.
func (f Findings) Errors() []error {
	errs := each.Map(f.Kept, func(one Finding) error { return errors.New(one.String()) })
	return excerpt.First(errs, len(errs), f.Omitted, func(more int) error { return errors.New(excerpt.More(more)) })
}

// List lists the first 20 findings, and the number of the others: omitted ones were found as well, but not kept.
func List[T fmt.Stringer](found []T, omitted int) string {
	return excerpt.Clauses(found, maxListed, omitted, T.String)
}
