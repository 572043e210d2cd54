// SPDX-License-Identifier: Apache-2.0

// Package value reads parts of objects in the types that JSON and kustomize have. What is missing, or has another type, is
// empty. It must not know the fields of an object.
package value

import "github.com/winnow-dev/winnow/render/each"

// Value is a part of an object.
type Value struct{ Content any }

// Of returns what has a content.
func Of(content any) Value { return Value{content} }

// Get follows the members of mappings.
func (v Value) Get(names ...string) Value {
	for _, name := range names {
		v = Value{v.Mapping()[name]}
	}
	return v
}

// IsSet reports whether the part is there, and not null.
func (v Value) IsSet() bool { return v.Content != nil }

// Mapping returns a mapping; nil for everything else.
func (v Value) Mapping() map[string]any {
	mapping, _ := v.Content.(map[string]any)
	return mapping
}

// Items returns the elements of a list; nil for everything else.
func (v Value) Items() []Value {
	list, _ := v.Content.([]any)
	return each.Map(list, Of)
}

// IsText reports whether the part is a string, perhaps an empty one.
func (v Value) IsText() bool { _, ok := v.Content.(string); return ok }

// Text returns a string; empty for everything else.
func (v Value) Text() string {
	text, _ := v.Content.(string)
	return text
}

// IsTrue reports whether the part is true, and no text that says so.
func (v Value) IsTrue() bool { return v.Content == true }

// Number returns an integer; 0 for everything else.
func (v Value) Number() int64 {
	number, _ := v.Content.(int64)
	return number
}

// Scalar returns a string, a boolean or a number; nil for everything else.
func (v Value) Scalar() any {
	switch v.Content.(type) {
	case map[string]any, []any:
		return nil
	}
	return v.Content
}
