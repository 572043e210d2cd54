// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The deadline of the first caller is not that of the second one.
func TestTheFirstCallerThatLeavesFailsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights[string]
		work := func(ctx context.Context) (string, error) {
			select {
			case <-time.After(time.Minute):
				return "catalog", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := make(chan error)
		go func() {
			_, err := f.do(ctx, "key", "it", work)
			first <- err
		}()
		synctest.Wait()
		go func() {
			if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first caller got %v", err)
			}
		}()
		if result, err := f.do(t.Context(), "key", "it", work); result != "catalog" || err != nil {
			t.Errorf("the second caller got %q, %v", result, err)
		}
		synctest.Wait()
	})
}

// Work that nobody waits for ends, and the next caller starts it again.
func TestWorkEndsWithItsLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights[string]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ended := false
		_, err := f.do(ctx, "key", "it", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			ended = true
			return "", ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || !ended || len(f.flights) > 0 {
			t.Errorf("do() = %v, the work has ended: %t, %d flights", err, ended, len(f.flights))
		}
		if result, err := f.do(t.Context(), "key", "it", func(context.Context) (string, error) { return "catalog", nil }); result != "catalog" || err != nil {
			t.Errorf("the next caller got %q, %v", result, err)
		}
	})
}

func TestAPanicFailsAllCallers(t *testing.T) {
	var f flights[string]
	if _, err := f.do(t.Context(), "key", "it", func(context.Context) (string, error) { panic("a library") }); err == nil {
		t.Error("do() = nil")
	}
}
