// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"net/http"
	"path"
	"sync"
	"sync/atomic"
)

// wire intercepts the requests that mark definitions.
type wire struct {
	mu   sync.Mutex
	sent []string
	// before runs before a request is sent.
	before func(*http.Request)
	// answer answers requests in the place of the API server; nil for one that does.
	answer func(*http.Request) *http.Response
	// writes counts the requests that were answered.
	writes atomic.Int64
}

// taken returns the requests since the last call, as "<verb> <name>[ as <account>]".
func (w *wire) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		line := r.Method + " " + path.Base(r.URL.Path)
		if user := r.Header.Get("Impersonate-User"); user != "" {
			line += " as " + user
		}
		w.mu.Lock()
		w.sent = append(w.sent, line)
		w.mu.Unlock()
		if w.before != nil {
			w.before(r)
		}
		if w.answer != nil {
			return w.answer(r), nil
		}
		defer w.writes.Add(1)
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
