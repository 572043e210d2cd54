// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
)

// keysOfTwoTypes is a document in which keys of several types have one name in JSON.
const keysOfTwoTypes = `---
schema: olm.package
name: a
defaultChannel: one
---
schema: olm.channel
package: a
name: one
entries:
- {name: a.v1.0.0}
- {name: a.v2.0.0, replaces: a.v1.0.0}
properties:
- type: example
  value: {1: number, "1": text, 1.0: fraction, true: boolean, "true": text}
---
{schema: olm.bundle, package: a, name: a.v1.0.0, image: "example.com/a:v1", properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]}
---
{schema: olm.bundle, package: a, name: a.v2.0.0, image: "example.com/a:v2", properties: [{type: olm.package, value: {packageName: a, version: 2.0.0}}]}
`

func TestPruneKeepsBytesBesideKeysOfSeveralTypes(t *testing.T) {
	want := ""
	for range 50 {
		loaded, err := Load(t.Context(), fstest.MapFS{"a.yaml": {Data: []byte(keysOfTwoTypes)}})
		if err != nil {
			t.Fatal(err)
		}
		kept, _, err := named(t, loaded, "a").Prune(Keep{Bundle: func(_ string, bundle *Bundle) bool { return bundle.Name == "a.v2.0.0" }})
		if err != nil {
			t.Fatal(err)
		}
		files := kept.Files()
		if len(files) != 1 {
			t.Fatalf("the pruned package has %d files, want catalog.yaml alone", len(files))
		}
		if got := string(files[0].Data); want == "" {
			want = got
		} else if got != want {
			t.Fatalf("the same catalog gives\n%s\nand\n%s", want, got)
		}
	}
}

func TestKeysThatAreNoNumbers(t *testing.T) {
	for range 20 {
		if _, err := jsontext.FromYAML([]byte("{.nan: 1, .NaN: 2}")); err == nil {
			t.Fatal("a key that is there twice, each time as another one, is accepted")
		}
		if got, err := jsontext.FromYAML([]byte(`{.nan: 1, ".nan": 2}`)); err != nil || string(got) != `{".nan":2}` {
			t.Fatalf("a text beside a number is %s, %v", got, err)
		}
	}
}

// Maps have no order, and the problem that is reported is the first one of the text all the same.
func TestTheFirstOfSeveralProblemsIsReported(t *testing.T) {
	const null, number = "has null as a key", "has a number that JSON cannot have: .nan or .inf"
	deep := strings.Repeat("[", jsontext.MaxDepth) + strings.Repeat("]", jsontext.MaxDepth)
	for name, c := range map[string]struct{ text, want string }{
		"a key before a number":             {"{a: {null: 1}, b: .nan, c: {18446744073709551615: 1}}", null},
		"a number before a key":             {"{a: .inf, b: {null: 1}, c: " + deep + "}", number},
		"a depth before both":               {"{z: " + deep + ", b: {null: 1}, a: .nan}", jsontext.ErrDepth.Error()},
		"in a list":                         {"{z: [{y: 1, x: [1, .nan]}, {null: 1}], a: " + deep + "}", number},
		"a key before its value":            {"{z: {null: .nan}, a: .inf}", null},
		"by an alias":                       {"{z: &z [1], y: {x: [*z, {null: 1}]}, a: .nan, b: *z}", null},
		"beside a key that is replaced":     {"{a: 1, a: {null: 1}, b: .nan}", null},
		"a key that is not equal to itself": {"{z: {.nan: 1, .NaN: 2}, a: {null: 1}, b: .nan}", jsontext.ErrTwiceNaN.Error()},
		"what is merged has no order":       {"{<<: {a: .nan, null: 1}, b: 1}", jsontext.ErrNotInJSON.Error()},
		"a list at the top":                 {"[{a: .nan, null: 1}]", jsontext.ErrNotInJSON.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				if _, err := jsontext.FromYAML([]byte(c.text)); err == nil || err.Error() != c.want {
					t.Fatalf("%s has the problem %v, want %s", c.text, err, c.want)
				}
			}
		})
	}
}
