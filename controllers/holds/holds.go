// Package holds describes the changes that a safeguard holds, as an error and in the status, within the limits
// of the API. It must not know when a safeguard holds a render (package guard), nor how one is released.
package holds

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// Error reports that a safeguard holds a render.
type Error struct {
	reason string
	status v1alpha1.HeldStatus
}

// New returns the error with the reason of the condition Held. revision is that of the sources, reasons are all
// that apply, and approve the lines that release the render.
func New(reason, revision string, reasons []v1alpha1.HeldReason, approve ...string) *Error {
	return &Error{reason: reason, status: v1alpha1.HeldStatus{
		Revision: revision, Total: bounds.Count(len(reasons)), Reasons: bounded(reasons), Approve: approve,
	}}
}

// Reason is the reason of the condition Held.
func (e *Error) Reason() string { return e.reason }

// Status returns the content of status.held.
func (e *Error) Status() *v1alpha1.HeldStatus { return e.status.DeepCopy() }

// Error returns the message of the condition Held.
func (e *Error) Error() string {
	message := Describe(e.status.Reasons, int(e.status.Total))
	if len(e.status.Approve) > 0 {
		message += "; to publish it all the same, add to spec.safeguards.approve: " + strings.Join(e.status.Approve, ", ")
	}
	return message
}

// Describe joins the messages of the reasons, of which total is the number, and leaves room in an event for the
// way to release them.
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
	message := strings.Join(parts, "; ")
	if more := total - len(parts); more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	return message
}

// Reasons returns the reasons for held changes, with messages within the limit of the status. decided explains
// why an application is gone.
func Reasons(changes []safeguard.Change, decided selection.Result) []v1alpha1.HeldReason {
	reasons := guard.Reasons(changes, decided)
	for i := range reasons {
		reasons[i].Message = bounds.Truncate(reasons[i].Message, bounds.EventMessage)
	}
	return reasons
}

// Bounds of status.held: the bytes of a version, and the lines of all reasons in the output of kubectl
// describe.
const (
	maxVersionBytes = 64
	maxLines        = 200
)

// bounded returns as many reasons as fit into the status.
func bounded(reasons []v1alpha1.HeldReason) []v1alpha1.HeldReason {
	room := maxLines
	for i, reason := range reasons {
		for j, version := range reason.Versions {
			reason.Versions[j] = bounds.Truncate(version, maxVersionBytes)
		}
		if room -= bounds.Lines([]string{reason.Application, reason.Message, reason.Reason}, reason.Versions); room < 0 {
			return reasons[:i]
		}
	}
	return reasons
}
