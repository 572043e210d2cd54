// SPDX-License-Identifier: Apache-2.0

package identity

// Object is a Value of an object in the types that JSON and kustomize have.
type Object struct{ Content any }

// Get implements Value.
func (o Object) Get(names ...string) Value {
	for _, name := range names {
		mapping, _ := o.Content.(map[string]any)
		o = Object{mapping[name]}
	}
	return o
}

// IsSet implements Value.
func (o Object) IsSet() bool { return o.Content != nil }

// Items implements Value.
func (o Object) Items() []Value {
	list, _ := o.Content.([]any)
	items := make([]Value, len(list))
	for i, element := range list {
		items[i] = Object{element}
	}
	return items
}

// Scalar implements Value.
func (o Object) Scalar() any {
	switch o.Content.(type) {
	case map[string]any, []any:
		return nil
	}
	return o.Content
}
