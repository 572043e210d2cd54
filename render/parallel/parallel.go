// SPDX-License-Identifier: Apache-2.0

// Package parallel calls a function for many indexes on all cores. It must not know what the function does.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls do for every index below n on as many goroutines as Go may run at once. It stops early when the context
// ends, and returns its error. If do panics, the error is the *PanicError of the lowest index.
func For(ctx context.Context, n int, do func(int)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	var panics lowest
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				panics.note(i, call(do, i))
			}
		})
	}
	workers.Wait()
	if panics.err != nil {
		return panics.err
	}
	return ctx.Err()
}

func call(do func(int), i int) (err error) {
	defer Recover(&err)
	do(i)
	return nil
}

// lowest is the error of the lowest index. The zero value has none.
type lowest struct {
	mu    sync.Mutex
	index int
	err   error
}

func (l *lowest) note(index int, err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil || index < l.index {
		l.index, l.err = index, err
	}
}
