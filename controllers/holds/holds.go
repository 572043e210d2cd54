// SPDX-License-Identifier: Apache-2.0

// Package holds describes the changes that a safeguard holds, as an error and in the status, within the limits
// of the API. It must not know when a safeguard holds a render (package guard), nor how one is released.
package holds

import (
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Error reports that a safeguard holds a render.
type Error struct {
	reason string
	status v1alpha1.HeldStatus
	// because precedes the message; it may be empty.
	because string
	// approve are all lines that release the render.
	approve []string
}

// New returns the error with the reason of the condition Held. revision is the revision of the sources, reasons
// are all that apply, and approve the lines that release the render.
func New(reason, revision string, reasons []v1alpha1.HeldReason, approve ...string) *Error {
	return &Error{reason: reason, approve: approve, status: v1alpha1.HeldStatus{
		Revision: revision, Total: bounds.Count(len(reasons)), Reasons: bounded(reasons), Approve: boundedLines(approve),
	}}
}

// Because returns the error with a message about a status that is older than what is served.
func (e *Error) Because(outdated string) *Error {
	e.because = outdated
	return e
}

// Named adds a line of the spec that names a part of what is held.
func (e *Error) Named(line string) { e.status.Named = append(e.status.Named, line) }

// IsOutdated reports whether the status is older than what is served.
func (e *Error) IsOutdated() bool { return e.because != "" }

// Reason is the reason of the condition Held.
func (e *Error) Reason() string { return e.reason }

// Status returns the content of status.held.
func (e *Error) Status() *v1alpha1.HeldStatus { return e.status.DeepCopy() }

// Error returns the message of the condition Held.
func (e *Error) Error() string {
	message := Describe(e.status.Reasons, int(e.status.Total))
	if e.because != "" {
		message = e.because + ": " + message
	}
	switch n := fitting(e.approve); {
	case len(e.approve) == 0:
	case n == 0:
		message += "; to publish it all the same, add the lines in status.held.approve to spec.safeguards.approve"
	default:
		message += "; to publish it all the same, add to spec.safeguards.approve: " + excerpt.Names(e.approve, n)
	}
	return message
}

// fitting returns how many of the lines fit into the room that Describe leaves in an event.
func fitting(lines []string) int {
	n := 0
	for room := 300; n < len(lines) && len(lines[n]) <= room; n++ {
		room -= len(lines[n]) + len(", ")
	}
	return n
}

// Describe joins the messages of the reasons, total in number, and leaves room in an event for the way to
// release them.
func Describe(reasons []v1alpha1.HeldReason, total int) string {
	const listed, room = 10, 600
	var parts []string
	for used := 0; len(parts) < min(len(reasons), listed) && used < room; {
		reason := reasons[len(parts)]
		part := reason.Message
		if reason.Application != "" {
			part = reason.Application + ": " + part
		}
		part = bounds.Truncate(part, max(room-used, room/10))
		used += len(part)
		parts = append(parts, part)
	}
	return excerpt.Clauses(parts, len(parts), total-len(parts), strings.Clone)
}

// Bounds of status.held: the bytes of a version, and what all reasons, and the lines that release them, take in the output
// of kubectl describe.
const (
	maxVersionBytes = 64
	maxLines        = 120
	maxApproveLines = 100
)

// boundedLines returns as many lines as fit into the status, at least one.
func boundedLines(lines []string) []string {
	room := maxApproveLines
	for i, line := range lines {
		if room -= bounds.Lines([]string{line}); room < 0 && i > 0 {
			return lines[:i]
		}
	}
	return lines
}

// bounded returns as many reasons as fit into the status.
func bounded(reasons []v1alpha1.HeldReason) []v1alpha1.HeldReason {
	room := maxLines
	for i := range reasons {
		reason := &reasons[i]
		reason.Message = bounds.Truncate(reason.Message, bounds.EventMessage)
		for j, version := range reason.Versions {
			reason.Versions[j] = bounds.Truncate(version, maxVersionBytes)
		}
		if room -= bounds.Lines([]string{reason.Application, reason.Message, reason.Reason}, reason.Versions, reason.Approve); room < 0 {
			return reasons[:i]
		}
	}
	return reasons
}
