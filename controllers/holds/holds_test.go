// SPDX-License-Identifier: Apache-2.0

package holds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/holds"
)

func reasons(n int, message string) []v1alpha1.HeldReason {
	var all []v1alpha1.HeldReason
	for i := range n {
		all = append(all, v1alpha1.HeldReason{
			Reason: v1alpha1.RemovalReason, Application: fmt.Sprintf("app%d", i), Message: message, Versions: []string{strings.Repeat("1", 100)},
		})
	}
	return all
}

func TestTheMessageOfHeldChanges(t *testing.T) {
	for _, test := range []struct {
		name    string
		reasons []v1alpha1.HeldReason
		approve []string
		want    string
	}{
		{"nothing to release it", reasons(1, "would be removed"), nil, "app0: would be removed"},
		{"several, and a line that releases them", reasons(2, "would be removed"), []string{"sha256:00"},
			"app0: would be removed; app1: would be removed; to publish it all the same, add to spec.safeguards.approve: sha256:00"},
		{"lines that are too long for an event", reasons(1, "would be removed"), []string{"app0:locked/" + strings.Repeat("a", 500)},
			"app0: would be removed; to publish it all the same, add the lines in status.held.approve to spec.safeguards.approve"},
		{"without an application", []v1alpha1.HeldReason{{Message: "nothing is selected"}}, nil, "nothing is selected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := holds.New(v1alpha1.RemovalReason, "v2", test.reasons, test.approve...)
			if err.Error() != test.want || err.Reason() != v1alpha1.RemovalReason || err.Status().Revision != "v2" {
				t.Errorf("New() = %s: %v, of %s", err.Reason(), err, err.Status().Revision)
			}
		})
	}
}

func TestHeldReasonsFitIntoTheAPI(t *testing.T) {
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("app%d", i))
	}
	err := holds.New(v1alpha1.RemovalReason, "v2", reasons(5000, strings.Repeat("x", 500)), lines...)
	status := err.Status()
	if n := len(status.Approve); n != 100 {
		t.Errorf("%d of 5000 lines are listed", n)
	}
	if n := len(status.Reasons); status.Total != 5000 || n == 0 || n > 40 {
		t.Errorf("%d of %d reasons are listed", n, status.Total)
	}
	if v := status.Reasons[0].Versions[0]; len(v) != 64 {
		t.Errorf("a version of %d bytes", len(v))
	}
	message := err.Error()
	if len(message) > bounds.EventMessage || !strings.Contains(message, "spec.safeguards.approve: app0, app1, ") || !strings.Contains(message, "and 49") || !strings.HasSuffix(message, " more") {
		t.Errorf("the message of %d bytes is %s", len(message), message)
	}
}
