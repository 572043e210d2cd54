package transform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// mirrors replace the prefixes of addresses of charts, Git repositories and images, and
// collect the hosts.
type mirrors struct {
	// sorted has the longest From first.
	sorted  []mirror
	enabled bool
}

func newMirrors(configured []Mirror, collect bool) (mirrors, error) {
	var errs []error
	known := map[string]bool{}
	m := mirrors{enabled: collect || len(configured) > 0}
	for i, one := range configured {
		field := fmt.Sprintf("spec.mirrors[%d]", i)
		if !isPrefix(one.From) {
			errs = append(errs, &Error{Field: field + ".from", Err: errPrefix})
		}
		if known[one.From] {
			errs = append(errs, &Error{Field: field + ".from", Err: fmt.Errorf("%s is there twice", one.From)})
		}
		known[one.From] = true
		compiled, err := newMirror(field, one)
		errs = append(errs, err)
		m.sorted = append(m.sorted, compiled)
	}
	slices.SortFunc(m.sorted, func(a, b mirror) int {
		return cmp.Or(cmp.Compare(len(b.from), len(a.from)), cmp.Compare(a.from, b.from))
	})
	return m, errors.Join(errs...)
}

var errPrefix = errors.New("must be host[:port][/path], without scheme, outer slashes and spaces")

func isPrefix(prefix string) bool {
	host, _, _ := strings.Cut(prefix, "/")
	return isHost(host) && !strings.Contains(prefix, "://") &&
		!strings.HasSuffix(prefix, "/") && !strings.ContainsAny(prefix, " \t\r\n\v\f")
}

// match returns the mirror that fits an address best, which starts with a host, and the location there; nil
// if no mirror covers the address. What is below a mirror's target already keeps its location. The scheme
// is empty where it does not count.
func (m mirrors) match(address, scheme string) (*mirror, string) {
	for i, one := range m.sorted {
		rest, ok := below(address, one.from)
		if !ok || one.widens(rest) {
			continue
		}
		if _, nested := below(one.target, one.from); nested {
			if _, already := below(address, one.target); already {
				return &m.sorted[i], address
			}
		}
		return &m.sorted[i], one.target + rest
	}
	for i, one := range m.sorted {
		if _, already := below(address, one.target); already && one.serves(scheme) {
			return &m.sorted[i], address
		}
	}
	return nil, address
}

// rewrite returns an address in default values as it is to be. A scheme never is part of it.
func (m mirrors) rewrite(address string) (result string, covered bool) {
	found, result := m.match(address, "")
	return result, found != nil
}

// below returns what follows the prefix, if that ends at a boundary of the address's elements.
// Behind a host without a path, a colon leads to a port, and so to another host.
func below(address, prefix string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(address, prefix)
	if !ok || rest == "" {
		return rest, ok
	}
	switch rest[0] {
	case '/', '@':
		return rest, true
	case ':':
		return rest, strings.Contains(prefix, "/")
	}
	return "", false
}

func (m mirrors) concerns(Input) bool { return m.enabled }

func (m mirrors) apply(_ Input, doc *document, out *Output) *Error {
	const field = "spec.mirrors"
	s := search{mirrors: m, doc: doc, out: out, servers: map[int]*yaml.Node{}}
	for i, source := range sources(doc) {
		s.source(source, fmt.Sprintf("spec.versions[%d].template.source", i), i)
	}
	if s.failure != nil {
		return s.failed()
	}
	err := doc.flush()
	if err == nil {
		err = setServers(doc, s.servers)
	}
	if err != nil {
		return failed(field, err)
	}
	d, err := openDefaults(doc)
	if err != nil {
		out.Unreadable = err.Error()
		return nil
	}
	if d == nil {
		return nil
	}
	s.doc = d.inner
	s.values(d.mapping, "spec."+d.name, key{})
	return failed(field, d.close())
}

// sources returns where each version comes from, nil where it does not say.
func sources(doc *document) []*yaml.Node {
	versions := lookup(lookup(doc.content(), "spec"), "versions")
	if versions == nil || versions.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]*yaml.Node, len(versions.Content))
	for i, version := range versions.Content {
		all[i] = lookup(lookup(version, "template"), "source")
	}
	return all
}

// search looks for addresses in one document.
type search struct {
	mirrors
	doc *document
	out *Output
	// servers are the settings for the versions with rewritten charts, by index.
	servers map[int]*yaml.Node
	// failure is that of the first address that a mirror cannot have, others the number of further ones.
	failure *Error
	others  int
}

// fail records that a mirror cannot have an address.
func (s *search) fail(by *mirror, err error) {
	if s.failure != nil {
		s.others++
		return
	}
	s.failure = &Error{Field: by.field, Err: err}
}

// failed returns the failure, with the number of others.
func (s *search) failed() *Error {
	if s.others > 0 {
		s.failure.Err = fmt.Errorf("%w (and %d more)", s.failure.Err, s.others)
	}
	return s.failure
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
		from := lookup(source, at.method)
		node := lookup(from, at.field)
		value, ok := yamlnode.Text(node)
		if !ok || value == "" {
			continue
		}
		path := path + "." + at.method + "." + at.field
		host, by := s.location(from, value, at.kind, path)
		if host.To != value {
			s.doc.setString(node, host.To)
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
		s.fail(by, fmt.Errorf("%s, of %s: %w", path, a.host, err))
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
