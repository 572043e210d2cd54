// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"time"
)

// The backoff of a kind that cannot be watched begins with retryInterval, and doubles up to
// maxRetryInterval.
const (
	retryInterval    = 15 * time.Second
	maxRetryInterval = 10 * time.Minute
)

// Start retries the kinds that could not be watched, until the context ends. It implements manager.Runnable.
func (k *Kinds) Start(ctx context.Context) error {
	ticker := time.NewTicker(retryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			k.retry(ctx, func(w *watch) bool { return w.isDue(now) })
		}
	}
}

// Retry tries once to watch all kinds that could not be watched.
func (k *Kinds) Retry(ctx context.Context) {
	k.retry(ctx, func(*watch) bool { return true })
}

func (k *Kinds) retry(ctx context.Context, due func(*watch) bool) {
	for _, w := range k.all() {
		w.mu.Lock()
		opened := w.reader == nil && !w.ended && due(w) && k.open(ctx, w)
		subscribers := w.names()
		w.mu.Unlock()
		if opened {
			k.Enqueue(ctx, subscribers...)
		}
	}
}

// isDue reports whether the next attempt is due, and schedules the one after it.
func (w *watch) isDue(now time.Time) bool {
	if now.Before(w.due) {
		return false
	}
	w.delay = min(max(2*w.delay, retryInterval), maxRetryInterval)
	w.due = now.Add(w.delay)
	return true
}
