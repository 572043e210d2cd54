package parallel_test

import (
	"context"
	"errors"
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
