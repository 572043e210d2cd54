// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// The files of KKP's proposal of application catalogs, and its limit, are those of a catalog and of a selection.
func TestTheFilesAndTheLimitOfTheProposal(t *testing.T) {
	files := fstest.MapFS{"catalogs/default/metadata.yaml": {Data: []byte("applications: [x, z]\n")}}
	for name, tier := range map[string]string{"x": "gold", "y": "bronze", "z": "silver"} {
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: ` + name + `}
spec: {method: helm, versions: [{version: 1.0.0}]}
`)}
		files["applications/"+name+"/metadata.yaml"] = &fstest.MapFile{Data: []byte("tier: \"" + tier + "\"\ncontact: team@example.com\n")}
	}
	for _, test := range []struct{ name, spec, want string }{
		{"tiers and names, both of which must match", `
limit:
    metadataSelector:
        tierRefs:
        - "gold"
        - "silver"
    nameSelector:
    - "x"
    - "y"
`, "x"},
		{"a catalog of catalogs/", `limit: {catalogRefs: [default]}`, "x z"},
		{"what else the metadata has", `limit: {expression: 'app.metadata.contact == "team@example.com" && app.tier != "gold"'}`, "y z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := selectionOf(func(cs *v1alpha1.CatalogSelection) {
				if err := yaml.UnmarshalStrict([]byte(test.spec), &cs.Spec); err != nil {
					t.Fatal(err)
				}
			})
			result, err := renderFS(t.Context(), files, cs)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, definition := range result.Definitions {
				got = append(got, definition.Name)
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("selected %q, want %q", text, test.want)
			}
		})
	}
}
