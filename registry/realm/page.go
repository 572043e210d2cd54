// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// PageError is returned for a web page where a registry has a manifest or a list of tags.
type PageError struct {
	// Host that was requested, and Page the host of the page, to which it may have redirected.
	Host, Page string
}

// Error returns who answered with the page, and what to check.
func (e *PageError) Error() string {
	redirected := ""
	if e.Page != e.Host {
		redirected = " redirects to " + e.Page + ", which"
	}
	return fmt.Sprintf("%s%s answers with a web page instead of a manifest or tags: check the host, and whether a proxy or a login page is before the registry", e.Host, redirected)
}

// notPage returns a *PageError for a web page. Answers about blobs are not looked at: their digest is compared, and storages
// have types of their own.
func notPage(request *http.Request, response *http.Response) error {
	first := request
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || kind != "text/html" || !strings.Contains(first.URL.Path, "/manifests/") && !strings.Contains(first.URL.Path, "/tags/") {
		return nil
	}
	return &PageError{first.URL.Host, request.URL.Host}
}
