package kinds

import (
	"context"
	"time"
)

// A kind that cannot be watched is tried again after retryInterval, then after twice as long, up to
// maxRetryInterval.
const (
	retryInterval    = 15 * time.Second
	maxRetryInterval = 10 * time.Minute
)

// Start tries again what could not be watched, until the context ends. It implements
// manager.Runnable.
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

// Retry tries once to watch what could not be watched.
func (k *Kinds) Retry(ctx context.Context) {
	k.retry(ctx, func(*watch) bool { return true })
}

func (k *Kinds) retry(ctx context.Context, due func(*watch) bool) {
	for _, w := range k.all() {
		w.mu.Lock()
		opened := w.reader == nil && !w.ended && due(w) && k.open(ctx, w)
		askers := w.names()
		w.mu.Unlock()
		if opened {
			k.Enqueue(ctx, askers...)
		}
	}
}

// isDue reports whether it is time to try again, and sets the next time for when that fails.
func (w *watch) isDue(now time.Time) bool {
	if now.Before(w.due) {
		return false
	}
	w.delay = min(max(2*w.delay, retryInterval), maxRetryInterval)
	w.due = now.Add(w.delay)
	return true
}
