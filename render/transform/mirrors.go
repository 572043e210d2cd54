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
	sorted  []Mirror
	enabled bool
}

func newMirrors(configured []Mirror, collect bool) (mirrors, error) {
	var errs []error
	known := map[string]bool{}
	for i, mirror := range configured {
		field := fmt.Sprintf("spec.mirrors[%d]", i)
		if !isPrefix(mirror.From) {
			errs = append(errs, &Error{Field: field + ".from", Err: errPrefix})
		}
		if !isPrefix(mirror.To) {
			errs = append(errs, &Error{Field: field + ".to", Err: errPrefix})
		}
		if known[mirror.From] {
			errs = append(errs, &Error{Field: field + ".from", Err: fmt.Errorf("%s is there twice", mirror.From)})
		}
		known[mirror.From] = true
	}
	sorted := slices.Clone(configured)
	slices.SortFunc(sorted, func(a, b Mirror) int {
		return cmp.Or(cmp.Compare(len(b.From), len(a.From)), cmp.Compare(a.From, b.From))
	})
	return mirrors{sorted: sorted, enabled: collect || len(sorted) > 0}, errors.Join(errs...)
}

var errPrefix = errors.New("must be host[:port][/path], without scheme, outer slashes and spaces")

func isPrefix(prefix string) bool {
	return prefix != "" && !strings.Contains(prefix, "://") && !strings.HasPrefix(prefix, "/") &&
		!strings.HasSuffix(prefix, "/") && !strings.ContainsAny(prefix, " \t\r\n\v\f")
}

// rewrite returns an address, which starts with a host, with the prefix of the mirror that
// fits best replaced. What is below a mirror's target already is covered and stays.
func (m mirrors) rewrite(address string) (result string, covered bool) {
	for _, mirror := range m.sorted {
		rest, ok := below(address, mirror.From)
		if !ok {
			continue
		}
		if _, nested := below(mirror.To, mirror.From); nested {
			if _, already := below(address, mirror.To); already {
				return address, true
			}
		}
		return mirror.To + rest, true
	}
	for _, mirror := range m.sorted {
		if _, already := below(address, mirror.To); already {
			return address, true
		}
	}
	return address, false
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
	s := search{mirrors: m, doc: doc, out: out}
	spec := lookup(doc.content(), "spec")
	if versions := lookup(spec, "versions"); versions != nil && versions.Kind == yaml.SequenceNode {
		for i, version := range versions.Content {
			s.source(lookup(lookup(version, "template"), "source"), fmt.Sprintf("spec.versions[%d].template.source", i))
		}
	}
	if err := doc.flush(); err != nil {
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

// search looks for addresses in one document.
type search struct {
	mirrors
	doc *document
	out *Output
}

func (s *search) report(host Host, path string, at key) {
	host.Path = path
	if host.Kind == KindImage {
		host.Reference = imageReference(at, host.Reference)
	}
	s.out.Hosts = append(s.out.Hosts, host)
}

// source looks at where a version comes from.
func (s *search) source(source *yaml.Node, path string) {
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
		host := s.location(node, value, at.kind)
		host.Reference = at.complete(from, host.Reference)
		s.report(host, path+"."+at.method+"."+at.field, key{})
	}
}

// location rewrites the address of a chart or a Git repository.
func (s *search) location(node *yaml.Node, value string, kind Kind) Host {
	address, ok := parseURL(value)
	if !ok && kind == KindGit {
		address, ok = parseSCP(value)
	}
	if !ok {
		// Whatever this is, it is no mirror.
		return Host{Host: value, Kind: kind, Reference: Reference{From: value, To: value}}
	}
	host := s.address(address, value, kind)
	if host.To != value {
		s.doc.setString(node, host.To)
	}
	return host
}

// address returns what is to become of an address that is written as value.
func (s *search) address(a address, value string, kind Kind) Host {
	host := Host{Host: a.host, Kind: kind, Reference: Reference{From: value, To: value}}
	var result string
	if result, host.Covered = s.rewrite(a.location); result != a.location {
		host.To = a.with(result)
	}
	return host
}
