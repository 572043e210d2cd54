// SPDX-License-Identifier: Apache-2.0

package model

import (
	"net/url"

	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Link is an address of a catalog.
type Link struct {
	Name, Text string
	// URL is empty if the address is not one of HTTP: then it is no link.
	URL string
}

const maxURL = 2_000

// newLink returns an address that a page may link to: with http or https, a host and no user.
func newLink(name, address string) Link {
	link := Link{Name: name, Text: excerpt.To(redact.Users(address), maxURL)}
	parsed, err := url.Parse(address)
	if err == nil && len(address) <= maxURL && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != "" && parsed.User == nil {
		link.URL = parsed.String()
	}
	return link
}
