// SPDX-License-Identifier: Apache-2.0

package failure_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render/refusal"
)

// conflict is an error with a reason of its own.
type conflict struct{}

func (conflict) Error() string  { return "conflict" }
func (conflict) Reason() string { return v1alpha1.ConflictReason }

func TestTheReasonOfAnError(t *testing.T) {
	cause := errors.New("cause")
	rendered := &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: cause}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"an error without one", cause, v1alpha1.StorageFailedReason},
		{"an attached one", failure.Because(v1alpha1.FetchFailedReason, cause), v1alpha1.FetchFailedReason},
		{"of a render", rendered, v1alpha1.InvalidSpecReason},
		{"of an error with its own", conflict{}, v1alpha1.ConflictReason},
		{"wrapped", fmt.Errorf("loading: %w", failure.Because(v1alpha1.FetchFailedReason, cause)), v1alpha1.FetchFailedReason},
		{"the first one stays", failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("loading: %w", rendered)), v1alpha1.InvalidSpecReason},
		{"unless it is overridden", failure.Override(v1alpha1.TimedOutReason, fmt.Errorf("too long: %w", rendered)), v1alpha1.TimedOutReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := failure.ReasonOf(test.err); got != test.want {
				t.Errorf("ReasonOf() = %q, want %q", got, test.want)
			}
		})
	}
	given := failure.Because(v1alpha1.FetchFailedReason, cause)
	if !errors.Is(given, cause) || given.Error() != cause.Error() {
		t.Errorf("Because() = %v", given)
	}
	if err := failure.Because(v1alpha1.FetchFailedReason, nil); err != nil {
		t.Errorf("Because(nil) = %v", err)
	}
}
