// SPDX-License-Identifier: Apache-2.0

package importing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
)

func TestObjectsAreThoseOfDocumentsAndLists(t *testing.T) {
	large := strings.Repeat("x", 700_000)
	for name, test := range map[string]struct {
		content string
		// names of the objects, and what is not read.
		names, skipped string
	}{
		"documents":                  {content: "# a\n---\nmetadata: {name: a}\n---\nmetadata: {name: b}\n...\n", names: "a b"},
		"a list, and one in it":      {content: "kind: List\nitems: [{metadata: {name: a}}, {kind: List, items: [{metadata: {name: b}}]}]", names: "a b"},
		"JSON with a marker":         {content: "{\"metadata\": {\"name\": \"a\"}, \"data\": \"\\n---\\n\"}", names: "a"},
		"a list of much":             {content: fmt.Sprintf("kind: List\nitems:\n- {metadata: {name: a}, b: %s}\n- {metadata: {name: b}, b: %s}", large, large), names: "a b"},
		"an object of too much":      {content: fmt.Sprintf("metadata: {name: a}\nb: %s\nc: %s", large, large), skipped: "in: line 1: it has more than 1048576 bytes, which the API server does not store"},
		"nothing":                    {content: "# nothing\n", skipped: "in: it is empty"},
		"a list at the top":          {content: "- hush", skipped: "in: it is no object"},
		"an item that is no object":  {content: "kind: List\nitems: [{metadata: {name: a}}, hush]", skipped: "in: it has an item that is no object"},
		"an alias":                   {content: "a: &a hush\nb: *a", skipped: "in: it has aliases or merge keys, which kubectl does not write: write them out"},
		"a merge":                    {content: "a: {<<: {b: hush}}", skipped: "in: it has aliases or merge keys, which kubectl does not write: write them out"},
		"a key twice":                {content: "a: hush\na: hush", skipped: `in: line 2: it has the key "a" twice, first in line 1`},
		"a key of a list twice":      {content: "kind: List\nkind: hush\nitems: []", skipped: "in: it cannot be converted to JSON: it has a key twice, or a value that JSON does not have"},
		"a key that is no string":    {content: "a: {[hush]: b}", skipped: "in: line 1: it has a key that is not a string"},
		"a number that is none":      {content: "a: .nan", skipped: "in: it cannot be converted to JSON: it has a key twice, or a value that JSON does not have"},
		"too deep":                   {content: "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), skipped: "in: line 1: it is nested deeper than 100 levels"},
		"much too deep":              {content: "a: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), skipped: "in: line 1: it is not valid YAML: exceeded max depth of 10000"},
		"too many elements":          {content: "a: [" + strings.Repeat("a,", 2_000_001) + "]", skipped: "in: it has more than 2000000 elements: import it in parts"},
		"what is not YAML":           {content: "a: [hush", skipped: "in: line 1: it is not valid YAML: did not find expected ',' or ']'"},
		"a document that is not one": {content: "metadata: {name: a}\n---\nhush\n", names: "a", skipped: "in: document 2: it is no object"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, skipped, err := importing.Objects(t.Context(), "in", []byte(test.content))
			if err != nil {
				t.Fatal(err)
			}
			var names, lines []string
			for _, object := range objects {
				metadata, _ := object["metadata"].(map[string]any)
				names = append(names, fmt.Sprint(metadata["name"]))
			}
			for _, s := range skipped {
				lines = append(lines, s.Error())
			}
			if got := strings.Join(names, " "); got != test.names {
				t.Errorf("objects %q, want %q", got, test.names)
			}
			if got := strings.Join(lines, "\n"); got != test.skipped {
				t.Errorf("skipped %q, want %q", got, test.skipped)
			}
		})
	}
}
