// SPDX-License-Identifier: Apache-2.0

package parallel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/winnow-dev/winnow/render/parallel"
)

func TestEveryIndexIsPassedOnce(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		calls := make([]atomic.Int32, n)
		if err := parallel.For(t.Context(), n, func(i int) { calls[i].Add(1) }); err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("of %d indexes, %d is passed %d times", n, i, got)
			}
		}
	}
}

// A panic of a goroutine ends the process, and with it what is done for all others.
func TestAPanicIsAnError(t *testing.T) {
	var calls atomic.Int32
	err := parallel.For(t.Context(), 100, func(i int) {
		calls.Add(1)
		if i == 7 || i == 70 {
			panic(i)
		}
	})
	panicked := new(parallel.PanicError)
	if !errors.As(err, &panicked) || panicked.Value != 7 {
		t.Fatalf("For() = %v, want the panic of the lowest index", err)
	}
	if calls.Load() != 100 {
		t.Errorf("called %d of 100 times", calls.Load())
	}
	if strings.Contains(err.Error(), "goroutine") || !strings.Contains(string(panicked.Stack), "parallel_test.go") {
		t.Errorf("the stack belongs into the log, not into the message: %v\n%s", err, panicked.Stack)
	}
}

func TestItStopsWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int32
	err := parallel.For(ctx, 1_000_000, func(int) {
		calls.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || calls.Load() == 1_000_000 {
		t.Errorf("after %d calls the error is %v", calls.Load(), err)
	}
}
