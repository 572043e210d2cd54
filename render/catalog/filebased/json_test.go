// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
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
		found, err := jsontext.Scan(data)
		if errors.Is(err, jsontext.ErrDepth) || errors.Is(err, jsontext.ErrValues) {
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
		var again []jsontext.Member
		jsontext.EachMember(bytes.TrimLeft(data, " \t\r\n"), func(key, value []byte) { again = append(again, jsontext.Member{Key: key, Value: value}) })
		if len(again) != len(found.Members) {
			t.Fatalf("%q: %d members, then %d", data, len(found.Members), len(again))
		}
		for i, one := range found.Members {
			var key string
			var value json.RawMessage
			if token, err := decoder.Token(); err != nil {
				t.Fatal(err)
			} else if key, _ = token.(string); key != jsontext.Unquoted(one.Key) {
				t.Fatalf("%q: key %s, but %q", data, one.Key, key)
			}
			if err := decoder.Decode(&value); err != nil || !bytes.Equal(value, one.Value) {
				t.Fatalf("%q: value %q, but %q: %v", data, one.Value, value, err)
			}
			if !bytes.Equal(again[i].Key, one.Key) || !bytes.Equal(again[i].Value, one.Value) {
				t.Fatalf("%q: %s is %q, then %q", data, one.Key, one.Value, again[i].Value)
			}
			if value[0] == '[' {
				var want []json.RawMessage
				if got := jsontext.Elements(value); json.Unmarshal(value, &want) != nil || len(got) != len(want) {
					t.Fatalf("%q has %d elements, but %d", value, len(got), len(want))
				}
			}
		}
	})
}
