// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

func TestANameThatNoFileCanHaveIsTheCatalogsFault(t *testing.T) {
	cs := readSelection(t, "testdata/golden/tiers/selection.yaml")
	cs.Spec.Limit = nil
	for _, test := range []struct {
		name   string
		length int
		want   string
	}{
		{"the longest name is rendered", 250, ""},
		{"a longer one is an invalid catalog", 251, v1alpha1.InvalidCatalogReason},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := strings.Repeat("x", test.length)
			_, err := renderFS(t.Context(), fstest.MapFS{"applications/x/application.yaml": {Data: []byte(
				"apiVersion: a.b/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec: {}\n")}},
				cs)
			reason := ""
			var known *render.Error
			switch {
			case errors.As(err, &known):
				reason = known.Reason()
			case err != nil:
				reason = "another error: " + err.Error()
			}
			if reason != test.want {
				t.Errorf("Render() = %v, want the reason %q", err, test.want)
			}
		})
	}
}
