package catalog

import (
	"go.yaml.in/yaml/v3"
)

// maxDepth of nested nodes, aliases followed.
const maxDepth = 100

// extent is the size of a node when all aliases below it are expanded.
type extent struct {
	nodes   int // all nodes
	aliased int // those of them that are there because of aliases
	bytes   int // of scalars
	height  int // 1 for a scalar
}

func (e extent) plus(child extent) extent {
	return extent{
		nodes:   e.nodes + child.nodes,
		aliased: e.aliased + child.aliased,
		bytes:   e.bytes + child.bytes,
		height:  max(e.height, child.height+1),
	}
}

// structure checks what must hold before a document can be looked at without bounds.
type structure struct {
	found  *findings
	bounds bounds
	// anchored has the extents of the anchored nodes that are complete. An alias to another
	// node is inside of what it refers to. Nothing is ever expanded, and no node visited twice.
	anchored map[*yaml.Node]extent
	broken   bool
}

// sound reports whether the document is bounded, so that it may be looked at: not too deep,
// aliases neither cyclic nor exploding. It returns the extent of the document, which is that of a
// part of it when it is not bounded. On the way it finds duplicate keys, keys that are no
// strings and impossible merges; those do no harm to whoever looks further.
func sound(document *yaml.Node, bounds bounds, found *findings) (extent, bool) {
	s := structure{found: found, bounds: bounds, anchored: map[*yaml.Node]extent{}}
	size := s.visit(document, 1)
	return size, !s.broken
}

// visit returns the extent of a node; once broken, callers unwind without reporting more.
func (s *structure) visit(node *yaml.Node, depth int) extent {
	size := extent{nodes: 1, bytes: len(node.Value), height: 1}
	switch {
	case s.broken:
		return size
	case depth > maxDepth:
		s.refuse(node, "is nested deeper than %d levels", maxDepth)
	case node.Kind == yaml.AliasNode:
		return s.alias(node, depth)
	default:
		size = s.children(node, size, depth)
	}
	if node.Anchor != "" {
		s.anchored[node] = size
	}
	return size
}

func (s *structure) children(node *yaml.Node, size extent, depth int) extent {
	for _, child := range node.Content {
		size = size.plus(s.visit(child, depth+1))
		switch {
		case s.broken:
			return size
		case size.aliased > s.bounds.aliased:
			s.refuse(child, "has aliases that expand to more than %d nodes", s.bounds.aliased)
			return size
		case size.bytes > s.bounds.expanded:
			s.refuse(child, "has aliases that expand to more than %d bytes", s.bounds.expanded)
			return size
		}
	}
	if node.Kind == yaml.MappingNode {
		s.keys(node)
	}
	return size
}

func (s *structure) alias(node *yaml.Node, depth int) extent {
	size, complete := s.anchored[node.Alias]
	switch {
	case !complete:
		s.refuse(node, "has an alias that refers to itself: %s", quote("*"+node.Value))
	case depth+size.height-1 > maxDepth:
		s.refuse(node, "is nested deeper than %d levels by the alias %s", maxDepth, quote("*"+node.Value))
	}
	size.aliased = size.nodes
	return size
}

func (s *structure) refuse(node *yaml.Node, format string, args ...any) {
	s.found.add(node.Line, format, args...)
	s.broken = true
}

// keys checks the keys of a mapping. They are compared as JSON would have them, because that is
// what the API server sees: 1 and "1" are one key.
func (s *structure) keys(mapping *yaml.Node) {
	lines := make(map[string]int, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		name, ok := keyName(key)
		if !ok {
			s.found.add(mapping.Content[i].Line, "has a key that is not a string")
			continue
		}
		if first, twice := lines[name]; twice {
			s.found.add(mapping.Content[i].Line, "has the key %s twice, first in line %d", quote(name), first)
			continue
		}
		lines[name] = mapping.Content[i].Line
		if isMerge(mapping.Content[i]) && !isMergeable(mapping.Content[i+1]) {
			s.found.add(mapping.Content[i].Line, "has a merge key << with something that is not a mapping or a list of mappings")
		}
	}
}

func isMergeable(value *yaml.Node) bool {
	value = resolve(value)
	if value.Kind != yaml.SequenceNode {
		return value.Kind == yaml.MappingNode
	}
	for _, element := range value.Content {
		if resolve(element).Kind != yaml.MappingNode {
			return false
		}
	}
	return true
}
