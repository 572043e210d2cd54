// SPDX-License-Identifier: Apache-2.0

package schemadiff

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

func TestWhatASchemaRefusesNewly(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"a":`, 4_000) + "{}" + strings.Repeat("}}", 4_000)
	for name, test := range map[string]struct {
		older, newer string
		want         []string
	}{
		"a key is gone":                    {`{"properties":{"a":{"type":"string"},"b":{}}}`, `{"properties":{"b":{}}}`, []string{`a key gone "string" `}},
		"a key is gone, and others may be": {`{"properties":{"a":{}}}`, `{"additionalProperties":{"type":"string"}}`, []string{`[] type  "string"`}},
		"a key is new":                     {`{}`, `{"properties":{"a":{"type":"string"}}}`, nil},
		"another type":                     {`{"properties":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"type":"string"}}}`, []string{`a type "integer" "string"`}},
		"a wider type":                     {`{"type":"integer"}`, `{"type":["number","string"]}`, nil},
		"a type, where any was allowed":    {`{"items":{}}`, `{"items":{"type":"string"}}`, []string{`[] type  "string"`}},
		"integers or strings":              {`{"type":"integer"}`, `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`, []string{" bound anyOf not set " + `anyOf [{"type":"integer"},{"type":"string"}]`}},
		"null is refused":                  {`{"type":"string","nullable":true}`, `{"type":"string"}`, []string{` type "string" "string"`}},
		"a value is not listed any more":   {`{"enum":["a","b"]}`, `{"enum":["b","c"]}`, []string{` enum ["a","b"] ["b","c"]`}},
		"one more value":                   {`{"enum":["a"]}`, `{"enum":["a","b"]}`, nil},
		"any value is allowed":             {`{"enum":["a"]}`, `{}`, nil},
		"some values alone":                {`{}`, `{"enum":["a"]}`, []string{` enum  ["a"]`}},
		"newly required":                   {`{"properties":{"a":{}}}`, `{"properties":{"a":{}},"required":["a"]}`, []string{"a required  "}},
		"required with a default":          {`{"properties":{"a":{"default":1}}}`, `{"properties":{"a":{"default":1}},"required":["a"]}`, nil},
		"another default":                  {`{"default":1}`, `{"default":2}`, []string{" default 1 2"}},
		"a lower limit":                    {`{"maximum":10,"minLength":1}`, `{"maximum":5,"minLength":0}`, []string{" bound maximum 10 maximum 5"}},
		"a pattern":                        {`{}`, `{"pattern":"^a$"}`, []string{` bound pattern not set pattern "^a$"`}},
		"no further keys":                  {`{}`, `{"additionalProperties":false,"uniqueItems":false}`, []string{" bound additionalProperties not set additionalProperties false"}},
		"behind a reference":               {`{"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, []string{` type "integer" "string"`}},
		"a schema that leads to itself":    {`{"properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"$ref":"#"}},"maxProperties":1}`, []string{" bound maxProperties not set maxProperties 1", "a bound maxProperties not set maxProperties 1"}},
		"references of other types":        {`{"$ref":{}}`, `{"$ref":[],"properties":{"a":1,"b":null},"required":[{}],"items":[{}]}`, nil},
		"no schema":                        {`{}`, `[]`, []string{" unread  "}},
		"null":                             {`{}`, `null`, []string{" unread  "}},
		"a schema where there was none":    {``, `{"type":"object"}`, []string{` type  "object"`}},
		"deep":                             {deep, deep, nil},
		"more than is compared":            {`{}`, `{"default":"` + strings.Repeat("a", maxSchema) + `"}`, []string{" unread  "}},
		"no schema any more":               {`{"type":"object","properties":{"a":{}}}`, ``, nil},
		"required names what is no string": {`{}`, `{"required":[1,"a"]}`, []string{"a required  "}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range Of(test.older, test.newer) {
				got = append(got, c.Path+" "+string(c.Rule)+" "+c.From+" "+c.To)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestChangesAreBounded(t *testing.T) {
	keys := func(count int, value string) string {
		var all strings.Builder
		for i := range count {
			all.WriteString(`,"k` + strings.Repeat("a", i) + `":` + value)
		}
		return `{"properties":{"x":{}` + all.String() + `}}`
	}
	found := Of(keys(500, `{"type":"string"}`), keys(500, `{"type":"integer"}`))
	if len(found) != maxChanges+1 || found[maxChanges].Rule != diff.SchemaUnread {
		t.Errorf("%d changes, and the last is %v", len(found), found[len(found)-1])
	}
}

func FuzzOf(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$ref":"#"}}}`, `{"required":["a"],"items":{"enum":[1]}}`)
	f.Fuzz(func(t *testing.T, older, newer string) {
		if changes := Of(older, newer); len(changes) > maxChanges+1 {
			t.Errorf("%d changes", len(changes))
		}
	})
}
