// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/registry/redact"
)

// Reference names a chart in one version.
type Reference struct {
	// URL of the repository of Helm, with http:// or https://, or with oci:// what stands before the name in a registry.
	URL string
	// Name and Version of the chart.
	Name, Version string
}

// String returns the reference for people, without users, passwords and queries.
func (r Reference) String() string {
	return fmt.Sprintf("chart %s %s of %s", r.Name, r.Version, redact.Text(r.URL))
}

// isOCI reports whether a registry has the chart.
func (r Reference) isOCI() bool { return strings.HasPrefix(r.URL, oci.Scheme) }

// artifact returns the address of the chart in a registry, where a tag has no +.
func (r Reference) artifact() string {
	return strings.TrimRight(r.URL, "/") + "/" + r.Name + ":" + strings.ReplaceAll(r.Version, "+", "_")
}

// parseURL parses the URL of a repository, or of a chart in it.
func parseURL(address string) (*url.URL, error) {
	parsed, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL") // the error may quote a password
	case !slices.Contains([]string{"http", "https"}, parsed.Scheme) || parsed.Host == "":
		return nil, fmt.Errorf("it is at %q: want a URL that begins with https://, http:// or %s", parsed.Scheme+"://"+parsed.Host, oci.Scheme)
	case parsed.User != nil:
		return nil, errors.New("its URL has a user or a password: docker login stores them")
	}
	return parsed, nil
}
