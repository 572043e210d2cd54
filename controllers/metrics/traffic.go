// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

// Traffic counts the bytes that come in for renders and go out for clusters.
type Traffic struct {
	collectors

	artifacts, received, stored, sent prometheus.Counter
}

func newTraffic() *Traffic {
	downloaded := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "winnow_downloaded_bytes_total", Help: "Bytes that were downloaded: artifacts of Flux, and content of registries.",
	}, []string{"from"})
	published := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "winnow_published_bytes_total", Help: "Bytes that were published: archives in the storage, and content sent to registries.",
	}, []string{"to"})
	return &Traffic{
		collectors: collectors{downloaded, published},
		artifacts:  downloaded.WithLabelValues("artifact"), received: downloaded.WithLabelValues("registry"),
		stored: published.WithLabelValues("storage"), sent: published.WithLabelValues("registry"),
	}
}

// Downloaded counts the archive of an artifact of Flux.
func (t *Traffic) Downloaded(bytes int64) {
	if t != nil {
		t.artifacts.Add(float64(bytes))
	}
}

// Stored counts an archive in the storage.
func (t *Traffic) Stored(bytes int64) {
	if t != nil {
		t.stored.Add(float64(bytes))
	}
}

// OfRegistry returns base, with the bodies of its requests and responses counted.
func (t *Traffic) OfRegistry(base http.RoundTripper) http.RoundTripper {
	if t == nil {
		return base
	}
	return &counted{base, t}
}

type counted struct {
	base    http.RoundTripper
	traffic *Traffic
}

// RoundTrip implements http.RoundTripper.
func (c *counted) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil && request.Body != http.NoBody {
		body := request.Body
		request = request.WithContext(request.Context()) // a RoundTripper must not change the request
		request.Body = &countedBody{body, c.traffic.sent}
	}
	response, err := c.base.RoundTrip(request)
	if err == nil {
		response.Body = &countedBody{response.Body, c.traffic.received}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	bytes prometheus.Counter
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(float64(n))
	return n, err
}
