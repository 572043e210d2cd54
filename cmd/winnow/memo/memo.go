// SPDX-License-Identifier: Apache-2.0

// Package memo remembers the results of work that several parts of a review have in common. It must not know what the work is.
package memo

import "context"

// Memo maps what work depends on to its result. It is not safe for concurrent use, and the results that it returns must not be changed. A
// nil one remembers nothing.
type Memo[K comparable, V any] map[K]result[V]

type result[V any] struct {
	value V
	err   error
}

// Of returns the result of do, which it calls once for each key. It remembers errors too, but nothing of work that was cancelled.
func (m Memo[K, V]) Of(ctx context.Context, key K, do func() (V, error)) (V, error) {
	found, known := m[key]
	if !known {
		found.value, found.err = do()
		if ctx.Err() != nil {
			return *new(V), ctx.Err()
		}
		if m != nil {
			m[key] = found
		}
	}
	return found.value, found.err
}
