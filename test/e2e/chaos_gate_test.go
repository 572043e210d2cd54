// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// gate forwards HTTP requests to a server of the system, and spoils the answers while a fault is set.
type gate struct {
	*httptest.Server
	name    string
	target  func() string // HOST:PORT
	fault   atomic.Pointer[spoiling]
	spoiled atomic.Int64 // the number of requests
}

// spoiling is a fault of downloads: an error instead of an answer, or another body.
type spoiling struct {
	name   string
	status int
	header http.Header
	body   func(io.ReadCloser) io.ReadCloser
}

// spoilings are all faults of downloads.
func spoilings() []*spoiling {
	return []*spoiling{
		{name: "slow", body: func(b io.ReadCloser) io.ReadCloser { return &slowBody{b} }},
		{name: "cut", body: func(b io.ReadCloser) io.ReadCloser { return &cutBody{b, 100} }},
		{name: "wrong", body: func(b io.ReadCloser) io.ReadCloser { return &wrongBody{ReadCloser: b} }},
		{name: "401", status: http.StatusUnauthorized, header: http.Header{"Www-Authenticate": {`Basic realm="chaos"`}}},
		{name: "429", status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {"1"}}},
		{name: "500", status: http.StatusInternalServerError},
		{name: "503", status: http.StatusServiceUnavailable},
	}
}

func newGate(t *testing.T, name string, target func() string) *gate {
	t.Helper()
	g := &gate{name: name, target: target}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: target()}) },
		ModifyResponse: g.spoil,
		ErrorLog:       log.New(io.Discard, "", 0), // of each answer that is cut
		Transport:      &http.Transport{DisableKeepAlives: true},
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := g.fault.Load()
		if f == nil || f.status == 0 {
			proxy.ServeHTTP(w, r)
			return
		}
		g.spoiled.Add(1)
		for name, values := range f.header {
			w.Header()[name] = values
		}
		http.Error(w, "a fault of "+name, f.status)
	}))
	t.Cleanup(g.Close)
	return g
}

// host is the HOST:PORT of the gate.
func (g *gate) host() string { return strings.TrimPrefix(g.URL, "http://") }

func (g *gate) spoil(r *http.Response) error {
	if f := g.fault.Load(); f != nil && f.body != nil {
		g.spoiled.Add(1)
		r.Body = f.body(r.Body)
	}
	return nil
}

// slowBody returns a few bytes at a time.
type slowBody struct{ io.ReadCloser }

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(100 * time.Millisecond)
	return b.ReadCloser.Read(p[:min(len(p), 512)])
}

// cutBody fails after some bytes, so that the connection is closed.
type cutBody struct {
	io.ReadCloser
	left int
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// wrongBody changes a byte.
type wrongBody struct {
	io.ReadCloser
	done bool
}

func (b *wrongBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.done {
		p[n/2] ^= 1
		b.done = true
	}
	return n, err
}
