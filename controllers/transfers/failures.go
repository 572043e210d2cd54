// SPDX-License-Identifier: Apache-2.0

package transfers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// The backoff of a connection that fails: as long as the attempt took, doubled by each further failure.
const (
	minBackoff = 15 * time.Second
	maxBackoff = 10 * time.Minute
	// slow is how long an attempt takes at least that is worth to be remembered.
	slow = time.Second
	// maxFailures bounds the number of connections.
	maxFailures = 4096
)

// Failures remembers connections that do not answer, so that few of many transfers over one connection wait for it. The
// zero value is not usable; call NewFailures.
type Failures struct {
	now func() time.Time

	mu sync.Mutex
	// failed is keyed by connection.
	failed *lru.LRU[string, failed]
}

type failed struct {
	err   error
	until time.Time
	delay time.Duration
}

// NewFailures returns Failures with this clock.
func NewFailures(now func() time.Time) *Failures {
	f := &Failures{now: now}
	f.failed, _ = lru.NewLRU[string, failed](maxFailures, nil)
	return f
}

// UnansweredError is the last error of a connection that does not answer. It is not tried again before Until.
type UnansweredError struct {
	Host  string
	Until time.Time
	// In is the delay until then.
	In  time.Duration
	Err error
}

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("%s does not answer, next attempt at %s: %v", e.Host, e.Until.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns the error of the last attempt.
func (e *UnansweredError) Unwrap() error { return e.Err }

// Check returns an *UnansweredError while the connection is not to be tried.
func (f *Failures) Check(connection, host string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, ok := f.failed.Get(connection)
	if !ok || !f.now().Before(last.until) {
		return nil
	}
	return &UnansweredError{Host: host, Until: last.until, In: last.until.Sub(f.now()), Err: last.err}
}

// Do calls do within the timeout, unless its connection has just failed, and remembers how it ended. The end of ctx is
// no failure of the connection.
func (f *Failures) Do(ctx context.Context, connection, host string, timeout time.Duration, do func(context.Context) error) error {
	if err := f.Check(connection, host); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := f.now()
	err := do(bounded)
	if ctx.Err() == nil {
		f.note(connection, err, f.now().Sub(start))
	}
	return err
}

// note records how an attempt ended that took this long. An error that is an answer is no failure of the connection,
// and neither is one that comes at once, because nobody has waited for it.
func (f *Failures) note(connection string, err error, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !unanswered(err) {
		f.failed.Remove(connection)
		return
	}
	last, _ := f.failed.Get(connection)
	if took < slow || f.now().Before(last.until) {
		return // the second is of an attempt that began before another one failed
	}
	delay := min(max(minBackoff, took, 2*last.delay), maxBackoff)
	f.failed.Add(connection, failed{err, f.now().Add(delay), delay})
}

// unanswered reports whether a host did not answer, or answers no request for now.
func unanswered(err error) bool {
	var transport *url.Error
	var network *net.OpError
	if response, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		switch response.StatusCode {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &transport) || errors.As(err, &network)
}
