// SPDX-License-Identifier: Apache-2.0

// Package definition reads ApplicationDefinitions, of KKP and of Cozystack, in whichever form they were parsed to: it names
// the fields that several readers share. It must not know the text of a definition, nor what is wrong with one.
package definition

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Form is a part of a definition. What is missing has no members, items or text. The forms of this package read what has
// another type in the same way; the forms of lint and of the backends report it.
type Form[F any] interface {
	// Get follows the members of mappings.
	Get(names ...string) F
	// IsSet reports whether the part is there, and not null.
	IsSet() bool
	// Items returns the elements of a list.
	Items() []F
	// IsText reports whether the part is a string, perhaps an empty one.
	IsText() bool
	// Text returns a string.
	Text() string
}

// Value is a part of an object in the types that JSON and kustomize have.
type Value struct{ Content any }

// Get implements Form.
func (v Value) Get(names ...string) Value {
	for _, name := range names {
		v = Value{v.Mapping()[name]}
	}
	return v
}

// Mapping returns a mapping; nil for everything else.
func (v Value) Mapping() map[string]any {
	mapping, _ := v.Content.(map[string]any)
	return mapping
}

// IsSet implements Form.
func (v Value) IsSet() bool { return v.Content != nil }

// Items implements Form.
func (v Value) Items() []Value {
	list, _ := v.Content.([]any)
	return each.Map(list, func(element any) Value { return Value{element} })
}

// IsText implements Form.
func (v Value) IsText() bool { _, ok := v.Content.(string); return ok }

// Text implements Form.
func (v Value) Text() string {
	text, _ := v.Content.(string)
	return text
}

// Scalar returns a string, a boolean or a number; nil for everything else.
func (v Value) Scalar() any {
	switch v.Content.(type) {
	case map[string]any, []any:
		return nil
	}
	return v.Content
}

// Node is a part of a document that was loaded, and perhaps changed since. Nothing is expanded. It is nil for a missing part.
type Node struct{ *yaml.Node }

// Get implements Form.
func (n Node) Get(names ...string) Node {
	for _, name := range names {
		n = Node{yamlnode.Lookup(n.Node, name)}
	}
	return n
}

// IsSet implements Form.
func (n Node) IsSet() bool { return n.Node != nil && !yamlnode.IsNull(n.Node) }

// Items implements Form.
func (n Node) Items() []Node {
	if n.Node == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return each.Map(n.Content, func(element *yaml.Node) Node { return Node{yamlnode.Resolve(element)} })
}

// IsText implements Form.
func (n Node) IsText() bool { _, ok := yamlnode.Text(n.Node); return ok }

// Text implements Form.
func (n Node) Text() string {
	text, _ := yamlnode.Text(n.Node)
	return text
}

// Scalar returns a string, a boolean or a number; nil for everything else.
func (n Node) Scalar() any {
	if n.Node == nil || n.Kind != yaml.ScalarNode {
		return nil
	}
	content, err := yamlnode.Scalar(n.Node)
	if err != nil {
		return nil
	}
	return content
}
