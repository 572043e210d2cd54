// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/test/stack"
)

// `winnow render --crds` accepts the same objects as the API server in the test above.
func TestRealDefinitionsCheckWhatIsRendered(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data := dataDir(t, root)
	set := &crds.Set{}
	for _, dir := range []string{"kkp/crd", "cozystack/crd"} {
		if err := set.Load(t.Context(), dir, os.DirFS(filepath.Join(data, dir))); err != nil {
			t.Fatal(err)
		}
	}
	kkp, cozystack := filepath.Join(data, "kkp/system-applications"), filepath.Join(data, "cozystack/applicationdefinitions")
	for _, c := range []struct {
		name     string
		catalog  fs.FS
		objects  int
		old, new string
		want     []string
	}{
		{"the example catalog in KKP", os.DirFS(filepath.Join(root, "examples/catalog")), 10, "", "", nil},
		{"the catalog of plain Flux in KKP", os.DirFS(filepath.Join(root, "examples/plain-flux/catalog")), 5, "", "", nil},
		{"KKP's system applications", os.DirFS(kkp), 2, "", "", nil},
		{"Cozystack's definitions", os.DirFS(cozystack), 10, "", "", nil},
		{"fields and values that KKP does not have", os.DirFS(filepath.Join(root, "examples/catalog")), 10,
			"name: loki\nspec:", "name: loki\nspec:\n  colour: red\n  logoFormat: gif", []string{
				"ApplicationDefinition/loki: spec.colour: unknown field: the CustomResourceDefinition does not have it",
				`ApplicationDefinition/loki: spec.logoFormat: Unsupported value: "gif": supported values: "svg+xml", "png"`,
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := string(rendered(t, c.catalog, c.objects))
			if !strings.Contains(stream, c.old) {
				t.Fatalf("nothing to break: %s", stream)
			}
			if c.old != "" {
				stream = strings.Replace(stream, c.old, c.new, 1)
			}
			result, err := set.Check(t.Context(), []byte(stream))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range result.Findings {
				got = append(got, finding.String())
			}
			if !slices.Equal(got, c.want) || result.Checked != c.objects || len(result.Unchecked) > 0 {
				t.Errorf("checked %d, found\n  %s\nwant\n  %s", result.Checked, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}
