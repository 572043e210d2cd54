// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"path"

	"github.com/winnow-dev/winnow/render/definition"
)

// Key identifies an object. The version of its API is not part of it: one object can be read by several.
type Key struct {
	Group, Kind string
	// Namespace is empty for definitions and other objects of the whole cluster.
	Namespace, Name string
}

// String returns <kind>.<group> <name>, with <namespace>/ before the name of an object of a namespace.
func (k Key) String() string { return k.Kind + "." + k.Group + " " + k.FullName() }

// FullName returns <namespace>/<name>, or <name> alone without a namespace.
func (k Key) FullName() string { return path.Join(k.Namespace, k.Name) }

// IsDefinition reports whether the key is one of a definition, and not of an object of an instance.
func (k Key) IsDefinition() bool { return k.Kind == definition.Kind }

// KeyOf returns the key of an object. A definition belongs to no namespace, whatever its metadata says.
func KeyOf(group, kind, namespace, name string) Key {
	key := Key{Group: group, Kind: kind, Namespace: namespace, Name: name}
	if key.IsDefinition() {
		key.Namespace = ""
	}
	return key
}
