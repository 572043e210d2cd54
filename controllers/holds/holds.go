// Package holds describes what a safeguard holds, as an error and in the status, cut to what the API has room
// for. It must not know when a safeguard holds (package guard), nor what releases it.
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

// Error says that a safeguard holds a render.
type Error struct {
	reason string
	status v1alpha1.HeldStatus
}

// New returns the error with the reason of the condition Held. revision is that of the sources, reasons are
// all that hold it, and approve the lines that release it.
func New(reason, revision string, reasons []v1alpha1.HeldReason, approve ...string) *Error {
	return &Error{reason: reason, status: v1alpha1.HeldStatus{
		Revision: revision, Total: bounds.Count(len(reasons)), Reasons: bounded(reasons), Approve: approve,
	}}
}

// Reason is the reason of the condition Held.
func (e *Error) Reason() string { return e.reason }

// Status is what the status lists.
func (e *Error) Status() *v1alpha1.HeldStatus { return e.status.DeepCopy() }

// Error returns the message of the condition Held.
func (e *Error) Error() string {
	message := Describe(e.status.Reasons, int(e.status.Total))
	if len(e.status.Approve) > 0 {
		message += "; to publish it all the same, add to spec.safeguards.approve: " + strings.Join(e.status.Approve, ", ")
	}
	return message
}

// Describe says what holds, of which total is the number, so short that an event has room for how to release
// it.
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

// Reasons returns what holds with messages as the status may have them. decided says why an application is
// gone.
func Reasons(changes []safeguard.Change, decided selection.Result) []v1alpha1.HeldReason {
	reasons := guard.Reasons(changes, decided)
	for i := range reasons {
		reasons[i].Message = bounds.Truncate(reasons[i].Message, bounds.EventMessage)
	}
	return reasons
}

// Bounds of status.held: the bytes of a version of a reason, and the lines that all reasons take when
// kubectl describes them.
const (
	maxVersionBytes = 64
	maxLines        = 200
)

// bounded returns as many reasons as the status has room for.
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
