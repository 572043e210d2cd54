package filebased

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// nearJSON is JSON, and what is nearly that.
var nearJSON = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":{"b":[1,{"c":null}]},"d":"e"}`, `{"a":[],"b":{},"c":""}`,
	`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1}}`, `{"a":1} x`, `{1:2}`, `[]`, ``,
	`{"a":[1,]}`, `{"a":[,1]}`, `{"a":[1 2]}`, `{"a":[1}}`, `{"a":{"b":1]}`, `{"a":[`, `{"a":[1`,
	`{"a":"\u00e4\n\"\\\/\b\f\r\t"}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12"}`, `{"a":"\`, `{"a":"\\"}`, `{"a":"\\\"}`, "{\"a\":\"x\ny\"}", "{\"a\":\"\x7f\xff\"}",
	"{\"a\":\"0123456789\x1f\"}", `{"0123456789\"01234":"012345678\\"}`,
	`{"a":-0,"b":0.5,"c":1e5,"d":1E+5,"e":-1.5e-10}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":+1}`, `{"a":0x1}`, `{"a":1_0}`,
	`{"a":true,"b":false,"c":null}`, `{"a":tru}`, `{"a":nulll}`, `{"a":NaN}`, `{"a":truefalse}`,
	"{\n        \n         \"a\":\r\n\t        1\n}\n", "{\"a\":1}\u00a0", "\ufeff{}", "{\"a\":1}\x00", "{\"a\":\x001}",
	`{"a":"` + strings.Repeat("x", 100) + `\"` + strings.Repeat("\\\\", 50) + `"}`,
}

// What scanObject finds is what encoding/json finds.
func FuzzScan(f *testing.F) {
	for _, text := range nearJSON {
		f.Add([]byte(text))
	}
	seed := large(1, true)
	f.Add(seed[:bytes.IndexByte(seed, '\n')])
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := scanObject(data)
		if errors.Is(err, errDepth) || errors.Is(err, errValues) {
			return
		}
		isObject := json.Valid(data) && bytes.TrimLeft(data, " \t\r\n")[0] == '{'
		if (err == nil) != isObject {
			t.Fatalf("%q: scanObject() = %v, but %t", data, err, isObject)
		}
		if err != nil {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		if _, err := decoder.Token(); err != nil {
			t.Fatal(err)
		}
		var again []member
		eachMember(bytes.TrimLeft(data, " \t\r\n"), func(key, value []byte) { again = append(again, member{key: key, value: value}) })
		if len(again) != len(found.members) {
			t.Fatalf("%q: %d members, then %d", data, len(found.members), len(again))
		}
		for i, one := range found.members {
			var key string
			var value json.RawMessage
			if token, err := decoder.Token(); err != nil {
				t.Fatal(err)
			} else if key, _ = token.(string); key != unquoted(one.key) {
				t.Fatalf("%q: key %s, but %q", data, one.key, key)
			}
			if err := decoder.Decode(&value); err != nil || !bytes.Equal(value, one.value) {
				t.Fatalf("%q: value %q, but %q: %v", data, one.value, value, err)
			}
			if !bytes.Equal(again[i].key, one.key) || !bytes.Equal(again[i].value, one.value) {
				t.Fatalf("%q: %s is %q, then %q", data, one.key, one.value, again[i].value)
			}
			if value[0] == '[' {
				var want []json.RawMessage
				if got := elements(value); json.Unmarshal(value, &want) != nil || len(got) != len(want) {
					t.Fatalf("%q has %d elements, but %d", value, len(got), len(want))
				}
			}
		}
	})
}
