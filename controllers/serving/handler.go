// SPDX-License-Identifier: Apache-2.0

// Package serving serves archives over HTTP: the leader from its storage, every other process from the leader. It must
// not know what an archive is.
package serving

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// Times of a request to the leader: its pod may be gone.
const (
	dialTimeout     = 2 * time.Second
	responseTimeout = 10 * time.Second
)

// forwardedHeader marks a request of another process, which is not forwarded once more.
const forwardedHeader = "Winnow-Forwarded"

// Handler serves files once this process leads, and before that forwards requests to the leader. It answers 200 to a
// request for / only if it does one of both, which is the readiness of the pod.
type Handler struct {
	files   http.Handler
	elected <-chan struct{}
	leader  func() string
	forward http.Handler
}

// NewHandler returns a handler of the files in a directory. elected is closed once this process leads; leader returns the
// IP:PORT of another process that leads, or an empty string.
func NewHandler(dir string, elected <-chan struct{}, leader func() string) *Handler {
	h := &Handler{files: http.FileServer(http.Dir(dir)), elected: elected, leader: leader}
	dialer := &net.Dialer{Timeout: dialTimeout}
	h.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			address, _ := r.In.Context().Value(addressKey{}).(string)
			r.SetURL(&url.URL{Scheme: "http", Host: address})
			r.Out.Header.Set(forwardedHeader, "true")
		},
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ResponseHeaderTimeout: responseTimeout, IdleConnTimeout: time.Minute,
			DisableCompression: true,
		},
	}
	return h
}

// addressKey is the key of the leader's address in the context of a request.
type addressKey struct{}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-h.elected:
		h.files.ServeHTTP(w, r)
		return
	default:
	}
	address := h.leader()
	switch {
	case address == "" || r.Header.Get(forwardedHeader) != "":
		http.Error(w, "no controller leads, or it is not known yet", http.StatusServiceUnavailable)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		w.WriteHeader(http.StatusOK)
	default:
		h.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, address)))
	}
}
