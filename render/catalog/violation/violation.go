// SPDX-License-Identifier: Apache-2.0

package violation

import (
	"fmt"

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

// Error lists the first violations, and states how many there are.
func (e *InvalidError) Error() string {
	text := finding.List(e.Violations, e.Omitted)
	if total := len(e.Violations) + e.Omitted; total != 1 {
		text = fmt.Sprintf("%d violations: %s", total, text)
	}
	return "invalid catalog: " + text
}
