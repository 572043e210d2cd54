// SPDX-License-Identifier: Apache-2.0

package live

import (
	"net/http"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// metadataOnly is the header of requests that are answered with the metadata of objects alone.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

type accepting struct{ http.RoundTripper }

func (a accepting) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", metadataOnly)
	return a.RoundTripper.RoundTrip(r)
}

// newMetadata returns a client that reads nothing of an object but its metadata.
func newMetadata(config *rest.Config) (dynamic.Interface, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return accepting{next} })
	return dynamic.NewForConfig(config)
}
