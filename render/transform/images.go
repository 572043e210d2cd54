// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// values looks for image references and URLs in default values.
func (s *search) values(node *yaml.Node, path string, at key) {
	switch node.Kind {
	case yaml.MappingNode:
		s.mapping(node, path, at.image)
	case yaml.SequenceNode:
		for i, element := range node.Content {
			s.values(element, fmt.Sprintf("%s[%d]", path, i), key{image: at.image})
		}
	case yaml.ScalarNode:
		s.scalar(node, path, at)
	}
}

// text returns a value that may be an address: no and off are none, and booleans for the readers of a block.
func text(node *yaml.Node) (value string, ok bool) {
	if node != nil && dialect.IsBoolean(node) {
		return "", false
	}
	return yamlnode.Text(node)
}

// mapping looks at a mapping, of an image or not.
func (s *search) mapping(mapping *yaml.Node, path string, ofImage bool) {
	done := s.split(mapping, path, ofImage)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if name := mapping.Content[i].Value; !slices.Contains(done, name) {
			s.values(mapping.Content[i+1], child(path, name), newKey(mapping, name, ofImage))
		}
	}
}

// child returns the path of a key.
func child(path, name string) string {
	if strings.ContainsAny(name, ".[]") || name == "" {
		return fmt.Sprintf("%s[%q]", path, name)
	}
	return path + "." + name
}

// scalar rewrites one value.
func (s *search) scalar(node *yaml.Node, path string, at key) {
	value, ok := text(node)
	if !ok {
		return
	}
	result, host := s.find(value, at)
	if host.Host == "" {
		return
	}
	if result != value {
		s.doc.SetString(node, result)
	}
	s.report(host, path, at)
}

// find returns the value as it is to be, and its host, which is empty when the value is not an
// address. Text with spaces never is one, except inside of templates.
func (s *search) find(value string, at key) (string, Host) {
	if a, ok := parseURL(value); ok {
		host := s.address(a, value)
		if strings.HasPrefix(a.before, "oci://") {
			host.Kind, host.Unknown = KindChart, UnknownChart
		}
		return host.To, host
	}
	if isRegistryKey(at.name) && namesHost(value) {
		result, covered := s.rewrite(value)
		return result, Host{Host: value, Kind: KindImage, Covered: covered, Reference: Reference{From: value, To: result}}
	}
	ref, ok := parseImage(value, at.image)
	if !ok {
		return value, Host{}
	}
	result, covered := s.rewriteImage(ref, value)
	// A host with a path can be anything, the name of an annotation for example. It is one
	// when a mirror knows it, when it has a tag, or when its key says so.
	if !covered && !ref.tagged && !at.image && !isAddressKey(at.name) {
		return value, Host{}
	}
	return result, Host{Host: ref.host, Kind: KindImage, Covered: covered, Reference: Reference{From: full(value), To: full(result)}}
}

// rewriteImage tries the canonical form first, because mirrors are laid out like that, and then
// the reference as it is written.
func (s *search) rewriteImage(ref image, value string) (string, bool) {
	for _, location := range []string{ref.location, value} {
		if result, covered := s.rewrite(location); covered {
			if result == location {
				result = value
			}
			return result, true
		}
	}
	return value, false
}

// isAddressKey reports whether a value that names a host is an address.
func isAddressKey(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "repository") || isRegistryKey(name)
}

// split rewrites a reference that is split into registry and repository (or image, or the name of an image), and
// returns the keys that it took care of.
func (s *search) split(mapping *yaml.Node, path string, ofImage bool) []string {
	registry, ok := text(yamledit.Lookup(mapping, "registry"))
	if !ok || registry != "" && !namesRegistry(registry) {
		return nil
	}
	name, repository := repositoryOf(mapping, ofImage)
	if name == "" {
		return nil
	}
	combined := joined(registry, repository)
	ref, ok := parseImage(combined, true)
	if !ok || strings.Contains(repository, "://") {
		return nil
	}
	result, covered := s.rewriteImage(ref, combined)
	s.report(Host{
		Host: ref.host, Kind: KindImage, Covered: covered, Reference: Reference{From: full(combined), To: full(result)},
	}, child(path, name), newKey(mapping, name, ofImage))
	if result != combined {
		host, rest, _ := strings.Cut(result, "/")
		if first, _, _ := strings.Cut(repository, "/"); registry == "" && namesHost(first) {
			host, rest = "", result
		}
		s.set(mapping, "registry", host)
		s.set(mapping, name, rest)
	}
	return []string{"registry", name}
}

// repositoryOf returns the key that has the repository beside a registry, with its value; empty without one.
func repositoryOf(mapping *yaml.Node, ofImage bool) (name, repository string) {
	for _, name := range []string{"repository", "image", "name"} {
		if repository, ok := text(yamledit.Lookup(mapping, name)); ok && newKey(mapping, name, ofImage).image {
			return name, repository
		}
	}
	return "", ""
}

func joined(registry, repository string) string {
	if registry == "" {
		return repository
	}
	return strings.TrimSuffix(registry, "/") + "/" + repository
}

// namesRegistry reports whether a value is a host, perhaps with a path.
func namesRegistry(value string) bool {
	host, _, _ := strings.Cut(value, "/")
	return namesHost(host)
}

// set changes a string at a key.
func (s *search) set(mapping *yaml.Node, name, value string) {
	if current := yamledit.Lookup(mapping, name); current.Value != value {
		s.doc.SetString(current, value)
	}
}
