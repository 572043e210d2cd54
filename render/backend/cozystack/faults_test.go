// SPDX-License-Identifier: Apache-2.0

package cozystack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/backend/cozystack"
)

func TestFaultsOfASchema(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"none", `{"type":"object","properties":{"a":{"type":"string","pattern":"^[0-9]+$","default":"1"}}}`, ""},
		{"the empty schema", `{}`, ""},
		{"a default that leaves members to their defaults", `{"properties":{"a":{"default":{},"required":["b"],"properties":{"b":{"type":"string","default":"x"}}}}}`, ""},
		{"a number or a text", `{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^[0-9]+$","x-kubernetes-int-or-string":true,"default":1}}}`, ""},
		{"no JSON", `{"properties":{{}}`, "is no JSON schema: "},
		{"a list", `[]`, "is no JSON schema: "},
		{"a type that is none", `{"properties":{"a":{"items":{"type":"strnig"}}}}`, `a[]: has the type "strnig", want one of array, boolean, integer, null, number, object, string`},
		{"applications that are no objects", `{"type":"array"}`, "has the type array, want object, as the spec of an application is"},
		{"a pattern that is none", `{"properties":{"a":{"pattern":"("}}}`, "a: has a pattern that is none: "},
		{"a default of another type", `{"properties":{"a":{"type":"string","default":1}}}`, `a.default in body must be of type string: "number"`},
		{"a text in a default that the pattern refuses", `{"properties":{"a":{"default":{"b":""},"properties":{"b":{"type":"string","pattern":"^[0-9]+$"}}}}}`,
			`a.default.b: "" does not match the pattern "^[0-9]+$" in spec.application.openAPISchema`},
		{"a default that is none of the values", `{"properties":{"a":{"enum":["x"],"default":"y"}}}`, `a.default in body should be one of [x]`},
		{"a default with an unknown member", `{"properties":{"a":{"default":{"c":1},"properties":{"b":{}}}}}`, `a.default.c: is not in spec.application.openAPISchema`},
		{"a default with an element twice", `{"properties":{"a":{"type":"array","uniqueItems":true,"default":[{"b":1},2,{"b":1}]}}}`,
			`a.default[2]: is the element 0 once more, which uniqueItems refuses in spec.application.openAPISchema`},
		{"a default in a list", `{"properties":{"a":{"type":"array","items":{"properties":{"b":{"type":"boolean","default":"no"}}}}}}`, `a[].b.default in body must be of type boolean: "string"`},
	} {
		if got := strings.Join(cozystack.SchemaFaults(test.schema), "\n"); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var members []string
	for i := range 20 {
		members = append(members, fmt.Sprintf(`"a%d":{"type":"x"}`, i))
	}
	many := `{"properties":{` + strings.Join(members, ",") + `}}`
	if got := cozystack.SchemaFaults(many); len(got) != 10 {
		t.Errorf("%d faults", len(got))
	}
	var different strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&different, "%d,", i)
	}
	start := time.Now()
	if got := cozystack.SchemaFaults(`{"properties":{"a":{"uniqueItems":true,"default":[` + different.String() + `-1]}}}`); len(got) > 0 || time.Since(start) > 5*time.Second {
		t.Errorf("%q in %v", got, time.Since(start))
	}
	wide := `{"default":[` + strings.Repeat("1,", 20_000) + `1],"anyOf":[` + strings.Repeat("{},", 20_000) + `{}]}`
	if got := cozystack.SchemaFaults(wide); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
