// SPDX-License-Identifier: Apache-2.0

// Package field finds places in a YAML document of a catalog from the paths of fields, each with its line for a
// finding.
//
// The documents are bounded by yamlnode.Check. The package must not know what the fields mean, nor the rules about them.
package field

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Field is a place in a document, which may have no value.
type Field struct {
	// Path of the field from the root, such as spec.versions[0].
	Path string
	// Line of the key or of the list's element; without a value, the line where it is missing.
	Line int
	// Node is the value without aliases; nil when there is none or it is null.
	Node *yaml.Node
}

// Report takes what is wrong at a field, with what fmt.Sprintf makes a message of.
type Report func(at Field, format string, args ...any)

// Root returns the field of a document as a whole, without a value if node is nil.
func Root(node *yaml.Node) Field {
	if node == nil {
		return Field{Line: 1}
	}
	return newField("", node.Line, node)
}

// IsSet reports whether there is a value.
func (f Field) IsSet() bool { return f.Node != nil }

// Get follows keys. The field of a key that is not there has the line of its parent.
func (f Field) Get(keys ...string) Field {
	for _, key := range keys {
		if found, ok := yamlnode.Find(f.Node, key); ok {
			f = newField(f.join(key), found.Line, found.Value)
		} else {
			f = Field{Path: f.join(key), Line: f.Line}
		}
	}
	return f
}

// Entry is a member of a mapping with its key.
type Entry struct {
	// Name is the key as JSON has it.
	Name string
	Field
}

// Members returns the members of a mapping in the order of the document, then members of merge keys. Of a
// key that is there twice it returns the first, as Get does.
func (f Field) Members() []Entry {
	var all []Entry
	seen := map[string]bool{}
	for _, found := range yamlnode.Entries(f.Node) {
		if !seen[found.Name] {
			seen[found.Name] = true
			all = append(all, Entry{found.Name, newField(f.join(found.Name), found.Line, found.Value)})
		}
	}
	return all
}

// At returns the field of a path such as spec.versions[0].version, or the nearest one above it that the
// document has. Brackets contain keys of mappings.
func (f Field) At(path string) Field {
	at := f
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := at.Get(part)
		if i, err := strconv.Atoi(part); err == nil && at.IsSet() && at.Node.Kind == yaml.SequenceNode {
			if i < 0 || i >= len(at.Node.Content) {
				return at
			}
			element := at.Node.Content[i]
			next = newField(path, element.Line, yamlnode.Resolve(element))
		}
		if !next.IsSet() {
			return next
		}
		at = next
	}
	return at
}

// join returns the path of a member.
func (f Field) join(name string) string {
	if f.Path == "" {
		return name
	}
	return f.Path + "." + name
}

// Items returns the elements of a list.
func (f Field) Items() []Field {
	if f.Node == nil || f.Node.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]Field, 0, len(f.Node.Content))
	for i, element := range f.Node.Content {
		all = append(all, newField(fmt.Sprintf("%s[%d]", f.Path, i), element.Line, yamlnode.Resolve(element)))
	}
	return all
}

// IsText reports whether the value is a string.
func (f Field) IsText() bool { _, ok := yamlnode.Text(f.Node); return ok }

// Text returns the value of a string, empty for anything else.
func (f Field) Text() string {
	value, _ := yamlnode.Text(f.Node)
	return value
}

// IsBool reports whether the value is that boolean. An unset one is false to Kubernetes, but not
// here.
func (f Field) IsBool(want bool) bool {
	var value bool
	return f.Node != nil && f.Node.ShortTag() == "!!bool" && f.Node.Decode(&value) == nil && value == want
}

func newField(path string, line int, value *yaml.Node) Field {
	if yamlnode.IsNull(value) {
		value = nil
	}
	return Field{Path: path, Line: line, Node: value}
}
