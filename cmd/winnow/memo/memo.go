// SPDX-License-Identifier: Apache-2.0

// Package memo remembers the results of work that several parts of a review have in common. It must not know what the work is.
package memo

import "context"

// Memo maps what work depends on to its result. Producers share one: the types of keys and results tell theirs apart. It is not safe
// for concurrent use, and the results must not be changed. A nil one remembers nothing.
type Memo map[any]any

type work[K comparable, V any] struct{ key K }

type result[V any] struct {
	value V
	err   error
}

// Of returns the result of do, which it calls once for each key. It remembers errors too, but nothing of work that was cancelled.
func Of[K comparable, V any](ctx context.Context, m Memo, key K, do func() (V, error)) (V, error) {
	found, known := m[work[K, V]{key}].(result[V])
	if !known {
		found.value, found.err = do()
		if ctx.Err() != nil {
			return *new(V), ctx.Err()
		}
		if m != nil {
			m[work[K, V]{key}] = found
		}
	}
	return found.value, found.err
}
