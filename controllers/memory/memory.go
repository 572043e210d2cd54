// SPDX-License-Identifier: Apache-2.0

// Package memory bounds the memory of all content that is read at the same time. It must not know the content.
package memory

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Together half of the memory limit in config/manager; --catalog-cache-bytes is a quarter of that limit.
const (
	// LoadBytes is for reading archives and parsing what they have.
	LoadBytes = 384 << 20
	// SendBytes is for content that is sent to registries.
	SendBytes = 128 << 20
)

// Budget is memory that several readers share. Those that wait for it get it in order. The zero value is not usable.
type Budget struct {
	bytes  int64
	shares *semaphore.Weighted
}

// New returns a Budget of this many bytes.
func New(bytes int64) *Budget {
	return &Budget{bytes: bytes, shares: semaphore.NewWeighted(bytes)}
}

// Acquire waits for bytes, at most for all of the budget, and returns the function that releases them. It fails with
// the error of the context.
func (b *Budget) Acquire(ctx context.Context, bytes int64) (release func(), err error) {
	bytes = min(max(bytes, 0), b.bytes)
	if err := b.shares.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { b.shares.Release(bytes) }, nil
}
