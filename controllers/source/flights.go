// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/transfers"
)

// flightTimeout bounds a flight as a whole, with the wait for memory and the parsing.
const flightTimeout = 5 * time.Minute

// flights share work between callers: all callers that come while it runs get its result. The work has a context of its
// own, so that the deadline of one caller does not end it for the others. It ends once no caller waits for it. The zero
// value is empty.
type flights[T any] struct {
	mu      sync.Mutex
	flights map[string]*flight[T]
}

type flight[T any] struct {
	callers int
	cancel  context.CancelFunc
	// done is closed once result and err are set.
	done   chan struct{}
	result T
	err    error
}

// do returns the result of work, which fetches what, and which it starts unless it runs already. The last caller that
// leaves ends the work and waits for that.
func (f *flights[T]) do(ctx context.Context, key, what string, work func(context.Context) (T, error)) (T, error) {
	shared := f.join(ctx, key, work)
	var err error
	select {
	case <-shared.done:
	case <-ctx.Done():
		err = failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching %s: %w", what, ctx.Err()))
	}
	if f.leave(key, shared) {
		shared.cancel()
		<-shared.done
	}
	if err != nil {
		var none T
		return none, err
	}
	return shared.result, shared.err
}

func (f *flights[T]) join(ctx context.Context, key string, work func(context.Context) (T, error)) *flight[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if shared, ok := f.flights[key]; ok {
		shared.callers++
		return shared
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTimeout)
	shared := &flight[T]{callers: 1, cancel: cancel, done: make(chan struct{})}
	if f.flights == nil {
		f.flights = map[string]*flight[T]{}
	}
	f.flights[key] = shared
	go func() {
		defer cancel()
		defer close(shared.done)
		shared.err = transfers.Recover(own, "loading a source", func() (err error) {
			shared.result, err = work(own)
			return err
		})
		f.mu.Lock()
		defer f.mu.Unlock()
		f.drop(key, shared)
	}()
	return shared
}

// leave reports whether no caller is left.
func (f *flights[T]) leave(key string, shared *flight[T]) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	shared.callers--
	if shared.callers > 0 {
		return false
	}
	f.drop(key, shared)
	return true
}

// drop makes the next caller start another flight. The caller holds the lock.
func (f *flights[T]) drop(key string, shared *flight[T]) {
	if f.flights[key] == shared {
		delete(f.flights, key)
	}
}
