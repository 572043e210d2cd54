// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// mirrors replace the prefixes of addresses of charts, Git repositories and images, and
// collect the hosts.
type mirrors struct {
	// sorted has the longest From first.
	sorted  []mirror
	enabled bool
}

func newMirrors(configured []v1alpha1.Mirror, collect bool) (mirrors, error) {
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
