// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"fmt"
	"testing"

	"github.com/winnow-dev/winnow/render/value"
)

func TestWhatHasAnotherTypeIsEmpty(t *testing.T) {
	object := value.Of(map[string]any{
		"text": "a", "empty": "", "number": int64(3), "float": 1.5, "yes": true, "null": nil,
		"list": []any{"b", map[string]any{"c": "d"}}, "mapping": map[string]any{"text": "e"},
	})
	read := func(v value.Value) string {
		return fmt.Sprintf("%t %q %t %t %d %v %d %d", v.IsSet(), v.Text(), v.IsText(), v.IsTrue(), v.Number(), v.Scalar(), len(v.Items()), len(v.Mapping()))
	}
	for _, test := range []struct {
		name string
		part value.Value
		want string
	}{
		{"a text", object.Get("text"), `true "a" true false 0 a 0 0`},
		{"an empty text", object.Get("empty"), `true "" true false 0  0 0`},
		{"an integer", object.Get("number"), `true "" false false 3 3 0 0`},
		{"another number", object.Get("float"), `true "" false false 0 1.5 0 0`},
		{"a boolean", object.Get("yes"), `true "" false true 0 true 0 0`},
		{"null", object.Get("null"), `false "" false false 0 <nil> 0 0`},
		{"nothing", object.Get("nothing"), `false "" false false 0 <nil> 0 0`},
		{"a list", object.Get("list"), `true "" false false 0 <nil> 2 0`},
		{"an element of a list", object.Get("list").Items()[1].Get("c"), `true "d" true false 0 d 0 0`},
		{"a member of a mapping", object.Get("mapping", "text"), `true "e" true false 0 e 0 0`},
		{"a member of a text", object.Get("text", "text"), `false "" false false 0 <nil> 0 0`},
		{"the object", object.Get(), `true "" false false 0 <nil> 0 8`},
	} {
		if got := read(test.part); got != test.want {
			t.Errorf("%s is read as %s, want %s", test.name, got, test.want)
		}
	}
}
