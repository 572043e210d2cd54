// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"errors"
	"testing"
)

// Whatever a file has, each CatalogSelection in it is accepted, or its violations are listed in lines of the file.
func FuzzParse(f *testing.F) {
	for _, content := range []string{
		"", one("a"), one("a") + "---\n" + one("b"), head + "metadata: {name: a}\nspec: {sources: [{name: a, limit: {expression: 'app.name =='}}], x: 1}\n",
		head + "metadata: {name: a}\nspec: &s {sources: [{name: a}], patches: [{patch: '- {op: copy}', target: {name: '('}}], values: [{names: [a], defaults: {a: *s}}]}\n",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: catalog.winnow.dev/v1alpha1, kind: CatalogSelection}]\n", "a: [", "\x00", "--- \n---",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := Parse(t.Context(), "f.yaml", content)
		Names(t.Context(), content)
		var invalid *InvalidError
		switch {
		case err != nil && (found != nil || !errors.As(err, &invalid) || len(invalid.Violations) == 0):
			t.Fatalf("Parse() = %v, %v", found, err)
		case err != nil:
			for _, line := range invalid.Lines() {
				if line == "" {
					t.Error("a violation without a text")
				}
			}
		}
		for _, one := range found {
			one.Place("spec.sources[0].name")
		}
	})
}
