// SPDX-License-Identifier: Apache-2.0

// Package definition reads ApplicationDefinitions, of KKP and of Cozystack, in whichever form they were parsed to: it names
// the fields that several readers share. It must not know the text of a definition, nor what is wrong with one.
package definition

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Form is a part of a definition: a Node, a value.Value, or a field of lint or of the backends. What is missing has no members,
// items or text, and neither has what is of another type, which the fields report.
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
