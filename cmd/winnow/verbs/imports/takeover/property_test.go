// SPDX-License-Identifier: Apache-2.0

package takeover_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/selection"
)

// randomValues returns values whose keys are often those of the default values of web.
func randomValues(r *rand.Rand, depth int) map[string]any {
	keys := []string{"replicas", "image", "tag", "pull", "own", "a.b", "1", "true", "x y"}
	leaves := []any{
		nil, true, false, 0, 1, 1.0, 1e3, -2, 1.5, 1e18, 1 << 53, "", "1", "1e3", "0x10", "012", "yes", "~", "null", "stable", "Always", " a ", "a\n", "a\r\nb\n\n",
		"{{ .A }}", "${A}", "- a", "é", []any{}, []any{1, nil, map[string]any{"a": nil}}, map[string]any{},
	}
	values := map[string]any{}
	for range r.IntN(4) {
		key := keys[r.IntN(len(keys))]
		if depth > 0 && r.IntN(3) == 0 {
			values[key] = randomValues(r, depth-1)
		} else {
			values[key] = leaves[r.IntN(len(leaves))]
		}
	}
	return values
}

func encode(t *testing.T, value any) string {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// mergeMaps merges values as helm-controller does.
func mergeMaps(under, over map[string]any) map[string]any {
	merged := maps.Clone(under)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range over {
		below, both := merged[key].(map[string]any)
		if members, isMapping := value.(map[string]any); isMapping && both {
			value = mergeMaps(below, members)
		}
		merged[key] = value
	}
	return merged
}

// changed returns the paths of leaves that differ.
func changed(prefix string, a, b map[string]any) (paths []string) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		x, inA := a[key]
		y, inB := b[key]
		under, isMapping := x.(map[string]any)
		over, both := y.(map[string]any)
		below := changed(prefix+key+".", under, over)
		switch {
		case isMapping && both, isMapping && !inB && len(below) > 0, both && !inA && len(below) > 0:
			paths = append(paths, below...)
		case inA != inB || !reflect.DeepEqual(x, y):
			paths = append(paths, prefix+key)
		}
	}
	return paths
}

// builtRelease returns the HelmRelease web and its merged values, of the selection with what was imported.
func builtRelease(t *testing.T, spec string, patch []byte) (chart string, values map[string]any) {
	t.Helper()
	cs := &v1alpha1.CatalogSelection{}
	for _, text := range [][]byte{[]byte("{spec: " + spec + "}"), patch} {
		if err := yaml.Unmarshal(text, cs); err != nil {
			t.Fatal(err)
		}
	}
	cs.Name, cs.Namespace = "apps", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	files := fstest.MapFS{}
	for i, text := range strings.Split(apps, "\n---\n") {
		files[fmt.Sprintf("applications/%d/application.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
		files[fmt.Sprintf("applications/%d/metadata.yaml", i)] = &fstest.MapFile{Data: []byte("tier: gold")}
	}
	loaded, err := catalog.Load(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	options, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, options)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := kustomized.YAML(result.Tree)
	if err != nil {
		t.Fatal(err)
	}
	var defaults, inline map[string]any
	for document := range strings.SplitAfterSeq(string(stream), "\n---\n") { // the end of a line belongs to a block of text
		var object struct {
			Kind string
			Data map[string]string
			Spec struct {
				Values map[string]any
				URL    string
				Ref    struct{ Tag string }
			}
		}
		if err := yaml.Unmarshal([]byte(strings.TrimSuffix(document, "---\n")), &object); err != nil {
			t.Fatal(err)
		}
		switch object.Kind {
		case "HelmRelease":
			inline = object.Spec.Values
		case "OCIRepository":
			chart = object.Spec.URL + ":" + object.Spec.Ref.Tag
		case "ConfigMap":
			if err := yaml.Unmarshal([]byte(object.Data["values.yaml"]), &defaults); err != nil {
				t.Fatal(err)
			}
		}
	}
	return chart, mergeMaps(defaults, inline)
}

// What an import changes about the values of a release, it lists.
func TestNoValueChangesUnlisted(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end) && !t.Failed(); {
		var values map[string]any
		text := encode(t, randomValues(r, 2))
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		spec := "{}"
		if r.IntN(2) == 0 {
			spec = "{definitions: Omit, values: [{names: [web], defaults: " + encode(t, randomValues(r, 1)) + ", overrides: " + encode(t, randomValues(r, 1)) +
				", instanceOverrides: " + encode(t, randomValues(r, 1)) + "}]}"
		}
		references := ""
		if r.IntN(2) == 0 {
			references = ", valuesFrom: [{kind: Secret, name: a}]"
		}
		result, cs := take(t, spec, live("web", "", fromOCI+references+", values: "+text, ""))
		if len(result.Refused) > 0 {
			if !strings.Contains(textOf(result.Refused), "KKP ") {
				t.Errorf("refused: %s: %s", textOf(result.Refused), spec)
			}
			continue
		}
		patch, err := result.YAML(cs)
		if err != nil {
			t.Fatal(err)
		}
		chart, built := builtRelease(t, spec, patch)
		if chart != "oci://charts.example.com/platform/web:1.0.0" {
			t.Errorf("installs %s", chart)
		}
		want, got := changed("", values, built), []string(nil)
		for _, w := range result.Warnings {
			if list, ok := strings.CutPrefix(w.Text, "the definition changes its values "); ok {
				got = strings.Split(strings.TrimSuffix(list, ", unless its valuesFrom has them"), ", ")
			}
		}
		if strings.Contains(strings.Join(got, " "), " more") {
			continue // the list is bounded
		}
		if !slices.Equal(got, want) {
			t.Errorf("spec %s\nlive %s\nbuilt %s\nlisted %q, changed %q", spec, text, encode(t, built), got, want)
		}
	}
}
