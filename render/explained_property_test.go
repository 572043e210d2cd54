// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/explained"
	"github.com/winnow-dev/winnow/render/layers"
	"github.com/winnow-dev/winnow/render/selection"
)

// marked returns random values. Each text and list has the name of the layer.
func marked(r *rand.Rand, layer string, depth int) map[string]any {
	values := map[string]any{}
	for range r.IntN(4) {
		key := []string{"a", "b", "c", "d.e"}[r.IntN(4)]
		switch n := r.IntN(8); {
		case n < 3 && depth > 0:
			values[key] = marked(r, layer, depth-1)
		case n == 3:
			values[key] = nil
		case n == 4:
			values[key] = []any{layer}
		default:
			values[key] = layer
		}
	}
	return values
}

// mergedValues returns what the release x gets, without values of the cluster.
func mergedValues(t *testing.T, result *render.Result) map[string]any {
	t.Helper()
	objects, err := result.InstanceObjects(t.Context(), []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	var defaults, inline map[string]any
	for key, object := range objects {
		switch key.Kind {
		case "ConfigMap":
			if err := yaml.Unmarshal([]byte(object["data"].(map[string]any)["values.yaml"].(string)), &defaults); err != nil {
				t.Fatal(err)
			}
		case "HelmRelease":
			inline, _ = object["spec"].(map[string]any)["values"].(map[string]any)
		}
	}
	return backend.MergeValues(defaults, inline)
}

// The values that explain shows are those that the objects have, and each is that of its layer.
func TestExplainedValuesAreThoseOfTheObjects(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && !t.Failed(); {
		encode := func(layer string) string {
			content, err := json.Marshal(marked(r, layer, 2))
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
		of := func(layer string) *apiextensionsv1.JSON { return asValues(encode(layer)) }
		before, after, _ := strings.Cut(explainedApp, "  defaultValuesBlock: |\n")
		_, after, _ = strings.Cut(after, "  versions:")
		document := before + "  defaultValuesBlock: '" + encode(explained.CatalogLayer) + "'\n  versions:" + after
		loaded, err := render.LoadFS(t.Context(), "catalog", fstest.MapFS{"applications/app/application.yaml": &fstest.MapFile{Data: []byte(document)}}, render.CatalogLocation{})
		if err != nil {
			t.Fatal(err)
		}
		cs := &v1alpha1.CatalogSelection{}
		cs.Name, cs.Namespace = "apps", "fleet"
		cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
		cs.Spec.Instances = map[string]v1alpha1.Instance{"x": {Application: "app", Values: of("spec.instances[x].values")}}
		for i := range r.IntN(3) {
			at := fmt.Sprintf("spec.values[%d].", i)
			cs.Spec.Values = append(cs.Spec.Values, v1alpha1.ValuesRule{
				Names: []string{"app"}, Defaults: of(at + "defaults"), Overrides: of(at + "overrides"), InstanceOverrides: of(at + "instanceOverrides"),
			})
		}
		sources := []selection.Source{{Name: "catalog", Catalog: loaded}}
		explanation, err := explained.Explain(t.Context(), sources, cs, "x")
		if err != nil {
			t.Fatal(err)
		}
		options, err := render.FromSpec(cs)
		if err != nil {
			t.Fatal(err)
		}
		result, err := render.Render(t.Context(), sources, options)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, leaf := range explanation.Values {
			if !leaf.Deleted {
				got = append(got, fmt.Sprint(leaf.Text(), "=", leaf.Value))
			}
			empty := leaf.Value == nil || reflect.DeepEqual(leaf.Value, map[string]any{})
			if text := fmt.Sprint(leaf.Value); leaf.Layer == "" || !empty && strings.Trim(text, "[]") != strings.Trim(leaf.Layer, "[]") {
				t.Errorf("%s=%s is of the layer %q", leaf.Text(), text, leaf.Layer)
			}
			if slices.Contains(leaf.Over, leaf.Layer) {
				t.Errorf("%s of %s is over itself: %q", leaf.Text(), leaf.Layer, leaf.Over)
			}
		}
		for _, leaf := range layers.Leaves(mergedValues(t, result)) {
			if leaf.Value != nil {
				want = append(want, fmt.Sprint(leaf.Text(), "=", leaf.Value))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("explained\n%s\nbuilt\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if t.Failed() {
			spec, _ := yaml.Marshal(cs.Spec)
			t.Logf("%s\n%s", document, spec)
		}
	}
}
