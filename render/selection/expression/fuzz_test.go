// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"errors"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// Whatever an expression is, compiling and evaluating it ends, twice with the same result.
func FuzzCompile(f *testing.F) {
	for _, source := range []string{
		"true", `app.name.matches("^a(b|c)+$")`, `app.versions.exists(v, app.versions.all(w, semver(v) >= semver(w)))`,
		`app.labels == {"a": "b"} || has(app.metadata.a) && app.metadata.a.b[0] == 1.5`, `"a,b".split(",").map(x, x + x).size() < 3`,
		`app.metadata.map(k, k).exists(k, k == "a")`, "(((", `app.name.replace("a", "b") == ""`, `[1, 2].all(x, x / 0 == 1)`,
	} {
		f.Add(source)
	}
	application := &catalog.Application{
		Name: "argocd", Kind: "ApplicationDefinition", Group: "example.com", Versions: []string{"1.0.0", "v2", "main"},
		Metadata: metadata.Metadata{Labels: map[string]string{"a": "b"}, Extra: map[string]any{"a": map[string]any{"b": []any{1.5, "x", nil}}}},
	}
	f.Fuzz(func(t *testing.T, source string) {
		compiled, err := expression.Compile(source)
		var invalid *expression.Error
		if err != nil {
			if compiled != nil || !errors.As(err, &invalid) || len(err.Error()) > 8<<10 {
				t.Fatalf("Compile() = %v, %v", compiled, err)
			}
			return
		}
		first, errFirst := compiled.Holds(t.Context(), application, "catalog")
		second, errSecond := compiled.Holds(t.Context(), application, "catalog")
		if first != second || (errFirst == nil) != (errSecond == nil) || errFirst != nil && !errors.As(errFirst, &invalid) {
			t.Errorf("Holds() = %v, %v, then %v, %v", first, errFirst, second, errSecond)
		}
	})
}
