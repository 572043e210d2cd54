// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"encoding/json"
	"testing"
)

// Go 1.27 has other texts and other paths in the errors of encoding/json. What a problem says of them depends on neither.
func TestAProblemIsTheSameInEachGo(t *testing.T) {
	type inner struct {
		Flag bool `json:"flag"`
	}
	type document struct {
		Icon  []byte  `json:"icon"`
		Name  string  `json:"name"`
		Inner inner   `json:"inner"`
		List  []inner `json:"list"`
		Count int32   `json:"count"`
	}
	for _, test := range []struct{ name, text, at, message string }{
		{"no base64", `{"icon": "a*b"}`, "", "illegal base64 data at input byte 1"},
		{"no text of base64", `{"icon": 5}`, "icon", "must be a list, but is a number"},
		{"a number for a string", `{"name": 5}`, "name", "must be a string, but is a number"},
		{"a member", `{"inner": {"flag": "x"}}`, "inner.flag", "must be a boolean, but is a string"},
		{"a member of a list", `{"list": [{}, {"flag": []}]}`, "list.flag", "must be a boolean, but is a list"},
		{"a mapping for a number", `{"count": {}}`, "count", "must be a number, but is a mapping"},
		{"a list for the document", `[]`, "", "must be a mapping, but is a list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := json.Unmarshal([]byte(test.text), &document{})
			if got := TypeProblem(err); got.At.String() != test.at || got.Message != test.message {
				t.Errorf("TypeProblem(%v) = %q %q, want %q %q", err, got.At, got.Message, test.at, test.message)
			}
		})
	}
}
