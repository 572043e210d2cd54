// SPDX-License-Identifier: Apache-2.0

// Package parallel calls a function for many indexes on all cores. It must not know what the function does.
package parallel

import (
	"cmp"
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
	panics := make([]error, n)
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				panics[i] = call(do, i)
			}
		})
	}
	workers.Wait()
	return cmp.Or(cmp.Or(panics...), ctx.Err())
}

func call(do func(int), i int) (err error) {
	defer Recover(&err)
	do(i)
	return nil
}
