// SPDX-License-Identifier: Apache-2.0

package files

import "context"

// Await returns the results of do, or the error of the context once that ends. The goroutine of do
// then continues, so do must have no effects that outlast the process.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
