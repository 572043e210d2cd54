// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Whatever a catalog holds, lint ends with findings that are the same again, and finds an error
// where the catalog cannot be loaded.
func FuzzRun(f *testing.F) {
	f.Add(definition(version), "tier: gold\n")
	f.Add(definition("  versions: [&a {version: 1, template: *a}]\n"), "{}")
	f.Add("<<: [{a: b}]\n", "deprecated: x")
	f.Fuzz(func(t *testing.T, text, metadata string) {
		fsys := fstest.MapFS{
			good:                             {Data: []byte(text)},
			"applications/app/metadata.yaml": {Data: []byte(metadata)},
		}
		first, err := lint.Run(t.Context(), fsys, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		second, err := lint.Run(t.Context(), fsys, lint.Options{})
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Fatalf("found %v, then %v, %v", first, second, err)
		}
		_, err = catalog.Load(t.Context(), fsys)
		if err != nil && first.Count(rules.Error) == 0 {
			t.Fatalf("no error, but %v", err)
		}
	})
}
