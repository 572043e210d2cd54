// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestAwait(t *testing.T) {
	failure := errors.New("failure")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		if got, err := Await(ctx, func() (int, error) { return 3, failure }); got != 3 || !errors.Is(err, failure) {
			t.Errorf("await() = %d, %v, want what the function returns", got, err)
		}
		cancel()
		release := make(chan struct{})
		blocked := func() (int, error) { <-release; return 3, nil }
		if got, err := Await(ctx, blocked); got != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("await() = %d, %v after the context has ended", got, err)
		}
		close(release) // synctest fails if the goroutine stays
	})
}
