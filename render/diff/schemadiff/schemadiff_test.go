// SPDX-License-Identifier: Apache-2.0

package schemadiff

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

// pair are two schemas, and the changes from one to the other.
type pair struct {
	older, newer string
	want         []string
}

func checkPairs(t *testing.T, pairs map[string]pair) {
	t.Helper()
	for name, test := range pairs {
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

func TestWhatASchemaRefusesNewly(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"a":`, 4_000) + "{}" + strings.Repeat("}}", 4_000)
	checkPairs(t, map[string]pair{
		"a key is gone":                    {`{"properties":{"a":{"type":"string"},"b":{}}}`, `{"properties":{"b":{}}}`, []string{`a key gone "string" `}},
		"a key is gone, and others may be": {`{"properties":{"a":{}}}`, `{"additionalProperties":{"type":"string"}}`, []string{`[] type  "string"`, `a type  "string"`}},
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
		"references of other types":        {`{"$ref":{}}`, `{"$ref":[],"properties":{"a":1,"b":null},"required":[{}],"items":[{}]}`, []string{" bound $ref {} $ref []", " bound items not set items [{}]"}},
		"no schema":                        {`{}`, `[]`, []string{" unread  "}},
		"null":                             {`{}`, `null`, []string{" unread  "}},
		"a schema where there was none":    {``, `{"type":"object"}`, []string{` type  "object"`}},
		"deep":                             {deep, deep, nil},
		"more than is compared":            {`{}`, `{"default":"` + strings.Repeat("a", maxSchema) + `"}`, []string{" unread  "}},
		"no schema any more":               {`{"type":"object","properties":{"a":{}}}`, ``, nil},
		"required names what is no string": {`{}`, `{"required":[1,"a"]}`, []string{"a required  "}},
	})
}

// Each pair has a value that the older schema allows and the newer one refuses, or is one that refuses nothing.
func TestNothingIsRefusedWithoutAChange(t *testing.T) {
	checkPairs(t, map[string]pair{
		"a reference to one schema, and then to another one": {`{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`,
			`{"properties":{"a":{"type":"integer"},"b":{"type":"string"}}}`, []string{`b type "integer" "string"`}},
		"a definition with two users": {`{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`,
			`{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, []string{`a type "integer" "string"`, `b type "integer" "string"`}},
		"beside a reference": {`{"$ref":"#/$defs/x","maximum":10,"$defs":{"x":{}}}`, `{"$ref":"#/$defs/x","maximum":5,"$defs":{"x":{}}}`, []string{" bound maximum 10 maximum 5"}},
		"below a reference that a keyword beside it hides": {`{"$ref":"#/$defs/x","maximum":1,"$defs":{"x":{"maximum":9}}}`, `{"$ref":"#/$defs/x","maximum":1,"$defs":{"x":{"maximum":0}}}`,
			[]string{` bound allOf [{"maximum":9}] allOf [{"maximum":0}]`}},
		"a definition behind a composition": {`{"anyOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"integer"}}}`, `{"anyOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"string"}}}`,
			[]string{` bound anyOf [{"$ref":"#/$defs/x"}] anyOf [{"$ref":"#/$defs/x"}]`}},
		"a composition that becomes a reference":       {`{"anyOf":[{"type":"string"}]}`, `{"anyOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"string","description":"new"}}}`, nil},
		"an anchor":                                    {`{"$ref":"#x","$defs":{"x":{"$anchor":"x","type":"integer"}}}`, `{"$ref":"#x","$defs":{"x":{"$anchor":"x","type":"string"}}}`, []string{" unread  "}},
		"a reference to another document":              {`{"$ref":"a.json"}`, `{"$ref":"b.json"}`, []string{` bound $ref "a.json" $ref "b.json"`}},
		"the same other document":                      {`{"$ref":"a.json"}`, `{"$ref":"a.json","title":"A"}`, nil},
		"a reference into a list":                      {`{"$ref":"#/$defs/x/0","$defs":{"x":[{"type":"integer"}]}}`, `{"$ref":"#/$defs/x/0","$defs":{"x":[{"type":"string"}]}}`, []string{` type "integer" "string"`}},
		"a composition that becomes properties":        {`{"allOf":[{"properties":{"a":{"type":"integer"}}}]}`, `{"properties":{"a":{"type":"string"}}}`, []string{`a type  "string"`}},
		"patterns that become properties":              {`{"patternProperties":{"^a$":{"type":"integer"}}}`, `{"properties":{"a":{"type":"string"}}}`, []string{`a type  "string"`}},
		"other keys that become properties":            {`{"additionalProperties":{"type":"integer"}}`, `{"properties":{"a":{"type":"string"}}}`, []string{`a type "integer" "string"`}},
		"a property that becomes one of others":        {`{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"}}`, []string{`a type "integer" "string"`}},
		"patterns that no other keys are beside":       {`{"patternProperties":{"^x":{}},"additionalProperties":false}`, `{"additionalProperties":false}`, []string{` bound patternProperties {"^x":{}} patternProperties not set`}},
		"a pattern is gone":                            {`{"pattern":"a","format":"uri","not":{}}`, `{}`, nil},
		"a key that may not be there any more":         {`{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":false}}`, []string{"a bound not not set not true"}},
		"a key that was never allowed":                 {`{"properties":{"a":false}}`, `{"properties":{"a":{"type":"string"}}}`, nil},
		"elements that nothing could be":               {`{"items":false,"additionalProperties":false}`, `{"items":{"type":"string"},"additionalProperties":{"type":"string"}}`, nil},
		"no elements":                                  {`{"items":{}}`, `{"items":false}`, []string{` bound items {} items false`}},
		"elements by their place":                      {`{"items":[{"type":"integer"}]}`, `{"items":[{"type":"string"}]}`, []string{` bound items [{"type":"integer"}] items [{"type":"string"}]`}},
		"elements by their place, in the newest draft": {`{"prefixItems":[{"type":"integer"}]}`, `{"prefixItems":[{"type":"string"}]}`, []string{` bound prefixItems [{"type":"integer"}] prefixItems [{"type":"string"}]`}},
		"names of keys":                                {`{}`, `{"propertyNames":{"maxLength":1}}`, []string{` bound propertyNames not set propertyNames {"maxLength":1}`}},
		"keys that need others":                        {`{}`, `{"dependentRequired":{"a":["b"]}}`, []string{` bound dependentRequired not set dependentRequired {"a":["b"]}`}},
		"a rule of Kubernetes":                         {`{}`, `{"x-kubernetes-validations":[{"rule":"false"}]}`, []string{` bound x-kubernetes-validations not set x-kubernetes-validations [{"rule":"false"}]`}},
		"null for an integer or string":                {`{"x-kubernetes-int-or-string":true,"nullable":true}`, `{"x-kubernetes-int-or-string":true}`, []string{" type  "}},
		"null is not listed any more":                  {`{"enum":["a",null]}`, `{"enum":["a"]}`, []string{` enum ["a",null] ["a"]`}},
		"nothing is listed":                            {`{}`, `{"enum":[]}`, []string{` enum  []`}},
		"a constant becomes one of several":            {`{"const":"a"}`, `{"type":"string","enum":["a","b"]}`, nil},
		"one of several becomes a constant":            {`{"enum":["a","b"]}`, `{"const":"a"}`, []string{` enum ["a","b"] ["a"]`}},
		"the limit itself is refused, in an old draft": {`{"minimum":5,"exclusiveMinimum":false}`, `{"minimum":5,"exclusiveMinimum":true}`, []string{" bound exclusiveMinimum false exclusiveMinimum true"}},
		"the limit itself is refused":                  {`{"maximum":5}`, `{"exclusiveMaximum":5}`, []string{" bound exclusiveMaximum not set exclusiveMaximum 5"}},
		"another limit, which refuses less":            {`{"maximum":5}`, `{"exclusiveMaximum":9}`, nil},
		"a limit that is said to be none":              {`{"minimum":5}`, `{"minimum":5,"exclusiveMinimum":false,"minItems":0,"minLength":0}`, nil},
	})
}

func TestADefaultIsNoValueWhereNothingSetsIt(t *testing.T) {
	got := WithoutDefaults(`{"properties":{"a":{}}}`, `{"properties":{"a":{"default":1}},"required":["a"]}`)
	if len(got) != 1 || got[0] != (diff.SchemaChange{Path: "a", Rule: diff.SchemaRequired}) {
		t.Errorf("%+v", got)
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
