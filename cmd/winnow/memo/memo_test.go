// SPDX-License-Identifier: Apache-2.0

package memo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/memo"
)

func TestWorkIsDoneOnce(t *testing.T) {
	m, calls := memo.Memo{}, 0
	broken := errors.New("broken")
	do := func() (int, error) {
		calls++
		return calls, broken
	}
	for range 2 {
		if value, err := memo.Of(t.Context(), m, "a", do); value != 1 || !errors.Is(err, broken) {
			t.Errorf("%d, %v", value, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := memo.Of(cancelled, m, "b", do); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if value, _ := memo.Of(t.Context(), m, "b", do); value != 3 {
		t.Errorf("the result of cancelled work is kept: %d", value)
	}
}

func TestKindsOfWorkShareAMemo(t *testing.T) {
	type other string
	m := memo.Memo{}
	one, _ := memo.Of(t.Context(), m, "a", func() (int, error) { return 1, nil })
	text, _ := memo.Of(t.Context(), m, "a", func() (string, error) { return "two", nil })
	three, _ := memo.Of(t.Context(), m, other("a"), func() (int, error) { return 3, nil })
	if one != 1 || text != "two" || three != 3 {
		t.Errorf("%d, %q, %d", one, text, three)
	}
	again, _ := memo.Of(t.Context(), m, "a", func() (int, error) { return 4, nil })
	if unkept, _ := memo.Of(t.Context(), nil, "a", func() (int, error) { return 5, nil }); again != 1 || unkept != 5 {
		t.Errorf("again %d, without a memo %d", again, unkept)
	}
}
