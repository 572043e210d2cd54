// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"cmp"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// search looks for addresses in one document.
type search struct {
	mirrors
	doc *yamledit.Document
	out *Output
	// servers are the settings for the versions with rewritten charts, by index.
	servers map[int]*yaml.Node
	// failures are about the addresses that a mirror cannot have.
	failures []*Error
}

// failed returns the first failure, with the number of others; nil without any.
func (s *search) failed() *Error {
	if len(s.failures) == 0 {
		return nil
	}
	first := s.failures[0]
	if others := len(s.failures) - 1; others > 0 {
		first.Err = fmt.Errorf("%w (and %d more)", first.Err, others)
	}
	return first
}

func (s *search) report(host Host, path string, at key) {
	host.Path = path
	if host.Kind == KindImage {
		host.Reference = imageReference(at, host.Reference)
	}
	s.out.Hosts = append(s.out.Hosts, host)
}

// source looks at where the version with an index comes from.
func (s *search) source(source *yaml.Node, path string, version int) {
	for _, at := range []struct {
		method, field string
		kind          Kind
		complete      func(*yaml.Node, Reference) Reference
	}{{"helm", "url", KindChart, chartReference}, {"git", "remote", KindGit, gitReference}} {
		from := yamledit.Lookup(source, at.method)
		node := yamledit.Lookup(from, at.field)
		value, ok := yamlnode.Text(node)
		if !ok || value == "" {
			continue
		}
		path := path + "." + at.method + "." + at.field
		host, by := s.location(from, value, at.kind, path)
		if host.To != value {
			s.doc.SetString(node, host.To)
			if at.kind == KindChart && by.server != nil {
				s.servers[version] = by.server
			}
		}
		host.Reference = at.complete(from, host.Reference)
		s.report(host, path, key{})
	}
}

// location returns what is to become of the address of a chart or a Git repository, and the mirror that
// covers it, nil without one.
func (s *search) location(from *yaml.Node, value string, kind Kind, path string) (Host, *mirror) {
	a, ok := parseURL(value)
	if !ok && kind == KindGit {
		a, ok = parseSCP(value)
	}
	if !ok {
		// Whatever this is, it is no mirror.
		return Host{Host: value, Kind: kind, Reference: Reference{From: value, To: value}}, nil
	}
	host := Host{Host: a.host, Kind: kind, Reference: Reference{From: value, To: value}}
	by, location := s.match(a.location, a.scheme)
	host.Covered = by != nil
	if by == nil {
		return host, nil
	}
	to, err := value, error(nil)
	if location != a.location || !by.serves(a.scheme) {
		to, err = by.address(a, location, kind, from)
	}
	if err = cmp.Or(err, stays(location)); err != nil {
		s.failures = append(s.failures, &Error{Field: by.field, Err: fmt.Errorf("%s, of %s: %w", path, a.host, err)})
		return host, by
	}
	host.To = to
	return host, by
}

// address returns what is to become of a URL in default values that is written as value.
func (s *search) address(a address, value string) Host {
	host := Host{Host: a.host, Kind: KindURL, Reference: Reference{From: value, To: value}}
	var result string
	if result, host.Covered = s.rewrite(a.location); result != a.location {
		host.To = a.with(result)
	}
	return host
}
