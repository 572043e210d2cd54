// SPDX-License-Identifier: Apache-2.0

// Package approvals keeps in the status which lines of spec.safeguards.approve were seen when, and which are used: a line
// counts once, and not for ever. It must not know what a line names.
package approvals

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/each"
)

const (
	// Counts is how long a line counts after it was seen first.
	Counts = 24 * time.Hour
	// kept is how long a line is remembered after it left the spec: until then it is no new one.
	kept = 30 * 24 * time.Hour
	// maxKept bounds the lines that are remembered after they left the spec.
	maxKept = 1000
)

// See returns status.approvals with the lines of the spec that are new, and those that have left it.
func See(cs *v1alpha1.CatalogSelection, now time.Time) []v1alpha1.ApprovalStatus {
	lines, at := cs.Spec.Safeguards.Approve, metav1.NewTime(now.Truncate(time.Second))
	var all, left []v1alpha1.ApprovalStatus
	for _, a := range cs.Status.Approvals {
		switch {
		case slices.Contains(lines, a.Line):
			a.Left = nil
			all = append(all, a)
			continue
		case a.Left == nil:
			a.Left = &at
		case now.Sub(a.Left.Time) > kept:
			continue
		}
		left = append(left, a)
	}
	for _, line := range lines {
		if !slices.ContainsFunc(all, func(a v1alpha1.ApprovalStatus) bool { return a.Line == line }) {
			all = append(all, v1alpha1.ApprovalStatus{Line: line, Seen: at})
		}
	}
	slices.SortStableFunc(left, func(a, b v1alpha1.ApprovalStatus) int { return b.Left.Compare(a.Left.Time) })
	return append(all, left[:min(len(left), maxKept)]...)
}

// Counting returns the lines of the spec that count: they are not used, and were seen less than a day ago or name a part of
// what is held.
func Counting(cs *v1alpha1.CatalogSelection, now time.Time) []approval.Line {
	var counting []string
	for _, a := range cs.Status.Approvals {
		holds := cs.Status.Held != nil && slices.Contains(cs.Status.Held.Named, a.Line)
		if a.Left == nil && a.Used == nil && (holds || now.Sub(a.Seen.Time) < Counts) {
			counting = append(counting, a.Line)
		}
	}
	return approval.ParseAll(counting)
}

// Known returns all lines that a new one must differ from to count.
func Known(cs *v1alpha1.CatalogSelection) []approval.Line {
	known := each.Map(cs.Status.Approvals, func(a v1alpha1.ApprovalStatus) string { return a.Line })
	return approval.ParseAll(slices.Concat(cs.Spec.Safeguards.Approve, known))
}

// Use returns the approvals with these lines marked as used.
func Use(approvals []v1alpha1.ApprovalStatus, lines []approval.Line, now time.Time) []v1alpha1.ApprovalStatus {
	return use(approvals, now, func(a v1alpha1.ApprovalStatus) bool {
		return slices.ContainsFunc(lines, func(l approval.Line) bool { return l.String() == a.Line })
	})
}

// UseAll returns the approvals with all lines of the spec marked as used, once for each publication that the status does not know: it may
// have used any of them. read is status.approvalsRead.
func UseAll(approvals []v1alpha1.ApprovalStatus, read, publication string, now time.Time) []v1alpha1.ApprovalStatus {
	if read == publication {
		return approvals
	}
	return use(approvals, now, func(a v1alpha1.ApprovalStatus) bool { return a.Left == nil })
}

// IsUsed reports whether a line of the spec names nothing any more, because it was used.
func IsUsed(cs *v1alpha1.CatalogSelection, line string) bool {
	return slices.ContainsFunc(cs.Status.Approvals, func(a v1alpha1.ApprovalStatus) bool { return a.Line == line && a.Used != nil })
}

func use(approvals []v1alpha1.ApprovalStatus, now time.Time, is func(v1alpha1.ApprovalStatus) bool) []v1alpha1.ApprovalStatus {
	at, used := metav1.NewTime(now.Truncate(time.Second)), slices.Clone(approvals)
	for i, a := range used {
		if a.Used == nil && is(a) {
			used[i].Used = &at
		}
	}
	return used
}
