// SPDX-License-Identifier: Apache-2.0

package transfers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"oras.land/oras-go/v2/registry/remote/errcode"
)

// attempt is what an attempt by a connection does.
func attempt(t *testing.T, f *Failures, connection string, do func(context.Context) error) (tried bool, err error) {
	t.Helper()
	err = f.Do(t.Context(), connection, "ghcr.io", time.Minute, func(ctx context.Context) error {
		tried = true
		return do(ctx)
	})
	return tried, err
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestWhatIsRememberedOfAConnection(t *testing.T) {
	status := func(code int) error { return &errcode.ErrorResponse{StatusCode: code} }
	after := func(took time.Duration, err error) func(context.Context) error {
		return func(context.Context) error {
			time.Sleep(took)
			return err
		}
	}
	for _, test := range []struct {
		name string
		do   func(context.Context) error
		next string
		want bool
	}{
		{"a host that hangs is not tried again", hang, "tenant|ghcr.io", true},
		{"it is tried by another namespace", hang, "platform|ghcr.io", false},
		{"it is tried by another proxy", hang, "tenant|ghcr.io|proxy", false},
		{"a host that is overloaded is not tried again", after(5*time.Second, status(503)), "tenant|ghcr.io", true},
		{"a missing artifact is an answer", after(5*time.Second, status(404)), "tenant|ghcr.io", false},
		{"a failure at once costs nobody time", after(0, status(503)), "tenant|ghcr.io", false},
		{"a success is no failure", after(5*time.Second, nil), "tenant|ghcr.io", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := NewFailures(time.Now)
				_, _ = attempt(t, f, "tenant|ghcr.io", test.do)
				tried, err := attempt(t, f, test.next, after(0, nil))
				var unanswered *UnansweredError
				if tried == test.want || errors.As(err, &unanswered) != test.want {
					t.Errorf("it was tried again: %t, %v", tried, err)
				}
			})
		})
	}
}

func TestTheBackoffOfAConnectionGrowsAndEndsWithASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures(time.Now)
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
			if tried, _ := attempt(t, f, "c", hang); !tried {
				t.Fatalf("before %s, the connection was not tried", want)
			}
			var unanswered *UnansweredError
			if err := f.Check("c", "ghcr.io"); !errors.As(err, &unanswered) || unanswered.In != want {
				t.Fatalf("Check() = %v, want a delay of %s", err, want)
			}
			time.Sleep(want)
		}
		if tried, err := attempt(t, f, "c", func(context.Context) error { return nil }); !tried || err != nil {
			t.Errorf("the last attempt: %t, %v", tried, err)
		}
		_, _ = attempt(t, f, "c", hang)
		var unanswered *UnansweredError
		if err := f.Check("c", "ghcr.io"); !errors.As(err, &unanswered) || unanswered.In != time.Minute {
			t.Errorf("Check() = %v after a success, want a delay of a minute", err)
		}
	})
}

// The end of the controller, or of a load that nobody waits for, proves nothing about the host.
func TestAnInterruptedAttemptIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures(time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := f.Do(ctx, "c", "ghcr.io", time.Minute, hang); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do() = %v", err)
		}
		if err := f.Check("c", "ghcr.io"); err != nil {
			t.Errorf("Check() = %v", err)
		}
	})
}
