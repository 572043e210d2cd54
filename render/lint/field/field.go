package lint

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
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
	if found, ok := yamlnode.Find(f.node, key); ok {
		return newField(f.join(key), found.Line, found.Value)
	}
	return field{path: f.join(key), line: f.line}
}

// entry is a member of a mapping with its key.
type entry struct {
	name string
	field
}

// members returns those of a mapping in the order of the document, then those of merge keys. Of a key that
// is there twice it returns the first, as member does.
func (f field) members() []entry {
	var all []entry
	seen := map[string]bool{}
	for _, found := range yamlnode.Entries(f.node) {
		if !seen[found.Name] {
			seen[found.Name] = true
			all = append(all, entry{found.Name, newField(f.join(found.Name), found.Line, found.Value)})
		}
	}
	return all
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
			next = newField(path, element.Line, yamlnode.Resolve(element))
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
		all = append(all, newField(fmt.Sprintf("%s[%d]", f.path, i), element.Line, yamlnode.Resolve(element)))
	}
	return all
}

// text returns the value of a string, empty for anything else.
func (f field) text() string {
	value, _ := yamlnode.Text(f.node)
	return value
}

// isBool reports whether the value is that boolean. An unset one is false to Kubernetes, but not
// here.
func (f field) isBool(want bool) bool {
	var value bool
	return f.node != nil && f.node.ShortTag() == "!!bool" && f.node.Decode(&value) == nil && value == want
}

func newField(path string, line int, value *yaml.Node) field {
	if yamlnode.IsNull(value) {
		value = nil
	}
	return field{path: path, line: line, node: value}
}
