// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Pair is a name with a text.
type Pair struct{ Name, Text string }

// String returns name=text.
func (p Pair) String() string { return p.Name + "=" + p.Text }

// maxFact bounds the text of a fact, in bytes.
const maxFact = 1_000

// pairs returns the entries of a mapping, sorted by name, each with a prefix before it.
func pairs(prefix string, all map[string]string) (found []Pair) {
	return each.Map(slices.Sorted(maps.Keys(all)), func(key string) Pair { return Pair{prefix + key, excerpt.To(redact.Users(all[key]), maxFact)} })
}

// textOf returns a value as a text, and everything but texts as YAML.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	content, err := yaml.Marshal(value)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

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
