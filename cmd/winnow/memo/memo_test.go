// SPDX-License-Identifier: Apache-2.0

package memo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/memo"
)

func TestWorkIsDoneOnce(t *testing.T) {
	m, calls := memo.Memo[string, int]{}, 0
	broken := errors.New("broken")
	do := func() (int, error) {
		calls++
		return calls, broken
	}
	for range 2 {
		if value, err := m.Of(t.Context(), "a", do); value != 1 || !errors.Is(err, broken) {
			t.Errorf("%d, %v", value, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Of(cancelled, "b", do); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if value, _ := m.Of(t.Context(), "b", do); value != 3 {
		t.Errorf("the result of cancelled work is kept: %d", value)
	}
}
