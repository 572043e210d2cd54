package transform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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

func (m mirrors) wants(Input) bool { return m.enabled }

func (m mirrors) apply(_ Input, doc *document, out *Output) *Error {
	const field = "spec.mirrors"
	s := search{mirrors: m, doc: doc, out: out, seen: map[*yaml.Node]Host{}}
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
	s.values(d.mapping, "spec."+d.name, "")
	return failed(field, d.close())
}

// search looks for addresses in one document.
type search struct {
	mirrors
	doc *document
	out *Output
	// seen has the scalars that were looked at: aliases lead to one more than once.
	seen map[*yaml.Node]Host
}

func (s *search) report(host Host, path string) {
	host.Path = path
	s.out.Hosts = append(s.out.Hosts, host)
}

// source looks at where a version comes from.
func (s *search) source(source *yaml.Node, path string) {
	for _, at := range []struct {
		method, field string
		kind          Kind
	}{{"helm", "url", KindChart}, {"git", "remote", KindGit}} {
		node := lookup(lookup(source, at.method), at.field)
		value, ok := text(node)
		if !ok || value == "" {
			continue
		}
		host, known := s.seen[node]
		if !known {
			host = s.location(node, value, at.kind)
			s.seen[node] = host
		}
		s.report(host, path+"."+at.method+"."+at.field)
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
		return Host{Host: value, Kind: kind}
	}
	return s.replace(node, address, kind)
}

func (s *search) replace(node *yaml.Node, a address, kind Kind) Host {
	result, covered := s.rewrite(a.location)
	if result != a.location {
		s.doc.setString(node, a.with(result))
	}
	return Host{Host: a.host, Kind: kind, Covered: covered}
}
