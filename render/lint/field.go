package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// field is a place in a document, which may have no value.
type field struct {
	// path of the field from the root, such as spec.versions[0].
	path string
	// line of the key or of the list's element; without a value, the line where it is missing.
	line int
	// node is the value without aliases; nil when there is none or it is null.
	node *yaml.Node
}

// isSet reports whether there is a value.
func (f field) isSet() bool { return f.node != nil }

// get follows keys. The field of a key that is not there has the line of its parent.
func (f field) get(keys ...string) field {
	for _, key := range keys {
		f = f.member(key)
	}
	return f
}

func (f field) member(key string) field {
	if found, value := lookUp(f.node, key); found != nil {
		return newField(f.join(key), found.Line, value)
	}
	return field{path: f.join(key), line: f.line}
}

// lookUp returns a key of a mapping as it is written, and its value. Merge keys come after what
// is written, and of those the first wins. The document is bounded, and so is the recursion.
func lookUp(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], resolve(mapping.Content[i+1])
		switch {
		case key.Value == "<<" && key.ShortTag() == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.Value == "<<" && key.ShortTag() == "!!merge":
			merged = append(merged, value)
		case resolve(key).Kind == yaml.ScalarNode && resolve(key).Value == name:
			return key, value
		}
	}
	for _, one := range merged {
		if key, value := lookUp(resolve(one), name); key != nil {
			return key, value
		}
	}
	return nil, nil
}

// entry is a member of a mapping with its key.
type entry struct {
	name string
	field
}

// members returns those of a mapping whose keys are scalars, in the order of the document, then those
// of merge keys. It takes one look at each key, however many a hostile document has.
func (f field) members() []entry {
	seen := map[string]bool{}
	var all []entry
	f.collect(f.node, seen, &all)
	return all
}

func (f field) collect(mapping *yaml.Node, seen map[string]bool, all *[]entry) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], resolve(mapping.Content[i+1])
		name := resolve(key).Value
		switch {
		case key.Value == "<<" && key.ShortTag() == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.Value == "<<" && key.ShortTag() == "!!merge":
			merged = append(merged, value)
		case resolve(key).Kind == yaml.ScalarNode && !seen[name]:
			seen[name] = true
			*all = append(*all, entry{name, newField(f.join(name), key.Line, value)})
		}
	}
	for _, one := range merged {
		f.collect(resolve(one), seen, all)
	}
}

// at returns the field of a path such as spec.versions[0].version, or the nearest one above it that the
// document has. Keys in brackets are those of mappings.
func (f field) at(path string) field {
	at := f
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := at.member(part)
		if i, err := strconv.Atoi(part); err == nil && at.isSet() && at.node.Kind == yaml.SequenceNode {
			if i < 0 || i >= len(at.node.Content) {
				return at
			}
			element := at.node.Content[i]
			next = newField(path, element.Line, resolve(element))
		}
		if !next.isSet() {
			return next
		}
		at = next
	}
	return at
}

// join returns the path of a member.
func (f field) join(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// items returns the elements of a list.
func (f field) items() []field {
	if f.node == nil || f.node.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]field, 0, len(f.node.Content))
	for i, element := range f.node.Content {
		all = append(all, newField(fmt.Sprintf("%s[%d]", f.path, i), element.Line, resolve(element)))
	}
	return all
}

// text returns the value of a string, empty for anything else.
func (f field) text() string {
	if f.node == nil || f.node.Kind != yaml.ScalarNode || f.node.ShortTag() != "!!str" {
		return ""
	}
	return f.node.Value
}

// isBool reports whether the value is that boolean. An unset one is false to Kubernetes, but not
// here.
func (f field) isBool(want bool) bool {
	var value bool
	return f.node != nil && f.node.ShortTag() == "!!bool" && f.node.Decode(&value) == nil && value == want
}

func newField(path string, line int, value *yaml.Node) field {
	if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null" {
		value = nil
	}
	return field{path: path, line: line, node: value}
}

// resolve follows aliases.
func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

const (
	// maxNodes bounds a document with its aliases expanded, and maxDepth its nesting. Package
	// catalog refuses less than that; rules do not look at more.
	maxNodes = 1 << 20
	maxDepth = 100
)

// bounded reports whether a document may be walked with its aliases followed.
func bounded(root *yaml.Node) bool {
	b := bounds{sizes: map[*yaml.Node]size{}}
	s := b.measure(root, nil)
	return s.nodes <= maxNodes && s.depth <= maxDepth
}

// size of a node with its aliases expanded.
type size struct{ nodes, depth int }

// endless is the size of what refers to itself.
var endless = size{nodes: maxNodes + 1, depth: maxDepth + 1}

type bounds struct {
	sizes map[*yaml.Node]size
}

// measure visits a node once: that of an anchor is remembered.
func (b *bounds) measure(node *yaml.Node, above []*yaml.Node) size {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if known, ok := b.sizes[node]; ok {
		return known
	}
	if len(above) > maxDepth || node.Anchor != "" && slices.Contains(above, node) {
		return endless
	}
	total := size{nodes: 1, depth: 1}
	above = append(above, node)
	for _, child := range node.Content {
		s := b.measure(child, above)
		total.nodes = min(total.nodes+s.nodes, endless.nodes)
		total.depth = max(total.depth, s.depth+1)
		if total.nodes > maxNodes || total.depth > maxDepth {
			return endless
		}
	}
	if node.Anchor != "" {
		b.sizes[node] = total
	}
	return total
}
