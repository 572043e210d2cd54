// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// IdentityOf returns the facts of a definition that was loaded, and perhaps changed since.
func IdentityOf(root *yaml.Node) identity.Facts {
	return identity.Of(value{root})
}

// value lets the facts be read from nodes. Nothing is expanded.
type value struct{ node *yaml.Node }

// Get is part of identity.Value.
func (v value) Get(names ...string) identity.Value {
	for _, name := range names {
		v = value{yamlnode.Lookup(v.node, name)}
	}
	return v
}

// IsSet is part of identity.Value.
func (v value) IsSet() bool { return v.node != nil && !yamlnode.IsNull(v.node) }

// Items is part of identity.Value.
func (v value) Items() []identity.Value {
	if v.node == nil || v.node.Kind != yaml.SequenceNode {
		return nil
	}
	items := make([]identity.Value, len(v.node.Content))
	for i, element := range v.node.Content {
		items[i] = value{yamlnode.Resolve(element)}
	}
	return items
}

// Scalar is part of identity.Value.
func (v value) Scalar() any {
	if v.node == nil || v.node.Kind != yaml.ScalarNode {
		return nil
	}
	content, err := yamlnode.Scalar(v.node)
	if err != nil {
		return nil
	}
	return content
}
