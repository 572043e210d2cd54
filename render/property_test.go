// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// bystander is an application that no transformer of a random spec names, written in a way
// that no encoder would.
const bystander = `# kept
apiVersion:   apps.kubermatic.k8c.io/v1
kind: "ApplicationDefinition"

metadata: {name: bystander}   # flow
spec:
    versions:
        - {version: '1.0.0', template: {source: {helm: {url: "https://untouched.example.com", chartName: a, chartVersion: 1.0.0}}}}
        - version: 0.9.0
    defaultValuesBlock: |-
        a:   1   # {{ .Cluster.Name }}

        image: untouched.example.com/b/c:1
`

func TestWhatNoTransformerNamesIsByteIdenticalWhateverTheSpec(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	catalog := fstest.MapFS{
		"applications/bystander/application.yaml": {Data: []byte(bystander)},
		"applications/bystander/metadata.yaml":    {Data: []byte("tier: gold\n")},
	}
	for _, name := range []string{"one", "two"} {
		catalog["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(named(name))}
		catalog["applications/"+name+"/metadata.yaml"] = &fstest.MapFile{Data: []byte("tier: gold\n")}
	}
	for range 100 {
		cs := randomSelection(random)
		result, err := renderFS(t.Context(), catalog, cs)
		if err != nil {
			t.Fatalf("%v\n%+v", err, cs.Spec)
		}
		content, ok := result.Tree.Content("applicationdefinitions/bystander.yaml")
		if !ok || !bytes.Equal(content, []byte(bystander)) {
			t.Fatalf("the bystander is\n%s\nof %+v", content, cs.Spec)
		}
	}
}

func named(name string) string {
	return fmt.Sprintf(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: %s
spec:
  default: true
  enforced: false
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: https://charts.example.com, chartName: a, chartVersion: 1.0.0}}}
  - version: 2.0.0
    template: {source: {helm: {url: https://charts.example.com, chartName: a, chartVersion: 2.0.0}}}
  defaultValuesBlock: |
    image: quay.io/a/b:1
`, name)
}

// randomSelection names the applications one and two only, and addresses that only they have.
func randomSelection(random *rand.Rand) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "random", "test"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	cs.Spec.DeletionPolicy = []string{v1alpha1.DeletionPolicyOrphan, v1alpha1.DeletionPolicyDelete}[random.IntN(2)]
	maybe := func(do func()) {
		if random.IntN(2) == 0 {
			do()
		}
	}
	names := [][]string{{"one"}, {"two"}, {"one", "two"}}[random.IntN(3)]
	maybe(func() {
		cs.Spec.Limit = &v1alpha1.Limit{
			MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}},
			Expression:       `app.tier == "gold"`,
		}
	})
	maybe(func() {
		cs.Spec.Versions = []v1alpha1.VersionRule{{Names: names, Constraint: "<2.0.0"}}
	})
	// A rule for all that keeps every version of the bystander.
	maybe(func() { cs.Spec.Versions = append(cs.Spec.Versions, v1alpha1.VersionRule{Latest: 2}) })
	maybe(func() {
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "quay.io", To: "mirror.internal"}, {From: "charts.example.com", To: "mirror.internal/charts"}}
	})
	maybe(func() {
		cs.Spec.Values = []v1alpha1.ValuesRule{{
			Names:     names,
			Defaults:  &apiextensionsv1.JSON{Raw: []byte(`{"added":{"deep":[1]}}`)},
			Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"image":"other"}`)},
		}}
	})
	maybe(func() { cs.Spec.OmitFields = []string{"enforced", "logo"} })
	maybe(func() { cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"a": "b"}} })
	maybe(func() {
		cs.Spec.Patches = []kustomize.Patch{{
			Target: &kustomize.Selector{Name: names[0]},
			Patch:  "- {op: add, path: /spec/description, value: patched}\n",
		}}
	})
	return cs
}
