package transform

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// values looks for image references and URLs in default values. name is the key that leads to
// the node, empty in a list.
func (s *search) values(node *yaml.Node, path, name string) {
	switch node.Kind {
	case yaml.MappingNode:
		s.mapping(node, path)
	case yaml.SequenceNode:
		for i, element := range node.Content {
			s.values(element, fmt.Sprintf("%s[%d]", path, i), "")
		}
	case yaml.ScalarNode:
		s.scalar(node, path, name)
	}
}

func (s *search) mapping(mapping *yaml.Node, path string) {
	done := s.split(mapping, path)
	// Keys can be added on the way, by replacing an alias or what a merge key brings.
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := resolve(mapping.Content[i]), mapping.Content[i+1]
		if isMerge(mapping.Content[i]) || slices.Contains(done, key.Value) {
			continue
		}
		if scalar := resolve(value); value.Kind == yaml.AliasNode && scalar.Kind == yaml.ScalarNode {
			s.aliased(mapping, key.Value, scalar, path)
			continue
		}
		s.values(value, child(path, key.Value), key.Value)
	}
}

// aliased looks at a scalar that stands elsewhere, where its key may have said nothing.
func (s *search) aliased(mapping *yaml.Node, name string, scalar *yaml.Node, path string) {
	if host, known := s.seen[scalar]; known {
		s.report(host, child(path, name))
		return
	}
	value, ok := text(scalar)
	if !ok {
		return
	}
	if result, host := s.find(value, name); host.Host != "" {
		if result != value {
			s.doc.setString(s.doc.own(mapping, name), result)
		}
		s.report(host, child(path, name))
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
func (s *search) scalar(node *yaml.Node, path, name string) {
	value, ok := text(node)
	if !ok {
		return
	}
	result, host := s.find(value, name)
	if host.Host == "" {
		return
	}
	if result != value {
		s.doc.setString(node, result)
	}
	if node.Anchor != "" {
		s.seen[node] = host
	}
	s.report(host, path)
}

// find returns the value as it is to be, and its host, which is empty when the value is not an
// address. Text with spaces never is one, except inside of templates.
func (s *search) find(value, name string) (string, Host) {
	if a, ok := parseURL(value); ok {
		result, covered := s.rewrite(a.location)
		kind := KindURL
		if strings.HasPrefix(a.before, "oci://") {
			kind = KindChart
		}
		if result == a.location {
			return value, Host{Host: a.host, Kind: kind, Covered: covered}
		}
		return a.with(result), Host{Host: a.host, Kind: kind, Covered: true}
	}
	if isRegistryKey(name) && namesHost(value) {
		result, covered := s.rewrite(value)
		return result, Host{Host: value, Kind: KindImage, Covered: covered}
	}
	ref, ok := parseImage(value, name == "image" || name == "repository")
	if !ok {
		return value, Host{}
	}
	result, covered := s.rewriteImage(ref, value)
	// A host with a path can be anything, the name of an annotation for example. It is one
	// when a mirror knows it, when it has a tag, or when its key says so.
	if !covered && !ref.tagged && !isImageKey(name) {
		return value, Host{}
	}
	return result, Host{Host: ref.host, Kind: KindImage, Covered: covered}
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

func isRegistryKey(name string) bool { return strings.HasSuffix(strings.ToLower(name), "registry") }

func isImageKey(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, "image") || strings.HasSuffix(lower, "repository") || isRegistryKey(name)
}

// split rewrites a reference that is split into registry and repository (or image), and
// returns the keys that it took care of.
func (s *search) split(mapping *yaml.Node, path string) []string {
	registry, ok := text(lookup(mapping, "registry"))
	if !ok || registry != "" && !namesRegistry(registry) {
		return nil
	}
	name := "repository"
	repository, ok := text(lookup(mapping, name))
	if !ok {
		name = "image"
		if repository, ok = text(lookup(mapping, name)); !ok {
			return nil
		}
	}
	combined := strings.TrimSuffix(registry, "/") + "/" + repository
	if registry == "" {
		combined = repository
	}
	ref, ok := parseImage(combined, true)
	if !ok || strings.Contains(repository, "://") {
		return nil
	}
	result, covered := s.rewriteImage(ref, combined)
	s.report(Host{Host: ref.host, Kind: KindImage, Covered: covered}, child(path, name))
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

// namesRegistry reports whether a value is a host, perhaps with a path.
func namesRegistry(value string) bool {
	host, _, _ := strings.Cut(value, "/")
	return namesHost(host)
}

// set changes a string at a key for this mapping only.
func (s *search) set(mapping *yaml.Node, name, value string) {
	if current, _ := text(lookup(mapping, name)); current != value {
		s.doc.setString(s.doc.own(mapping, name), value)
	}
}
