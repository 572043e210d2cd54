// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/render/dialect"
)

func TestObjectsAreThoseOfLists(t *testing.T) {
	type object = map[string]any
	a, b := object{"kind": "A"}, object{"kind": "B"}
	for _, test := range []struct {
		name   string
		object object
		want   []object
	}{
		{"an object", a, []object{a}},
		{"a list", object{"kind": "List", "items": []any{a, b}}, []object{a, b}},
		{"a list of a kind", object{"kind": "AList", "items": []any{a}}, []object{a}},
		{"a list in a list", object{"kind": "List", "items": []any{object{"kind": "List", "items": []any{a}}, b}}, []object{a, b}},
		{"an empty list", object{"kind": "List", "items": []any{}}, nil},
		{"items that are no objects", object{"kind": "List", "items": []any{nil, "a", []any{a}}}, nil},
		{"items of another kind", object{"kind": "Box", "items": []any{a}}, []object{{"kind": "Box", "items": []any{a}}}},
		{"a list without items", object{"kind": "List"}, []object{{"kind": "List"}}},
	} {
		if got := dialect.Objects(test.object); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
