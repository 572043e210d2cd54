// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// FuzzOptions: whatever a spec without patches and the metadata of a catalog say, kustomize builds the selected objects
// and no others, with the labels and annotations of commonMetadata.
func FuzzOptions(f *testing.F) {
	values := []string{"true", "", "disabled", "\ta\nb", "List", "${A}", "---\nb: c", "1e3", "$(A)"}
	for i, key := range slices.Concat(steering(), free(), []string{"a", "a.b/C", "true", "1e3", "kind", "x/1e3"}) {
		value := values[i%len(values)]
		f.Add(key, value, uint32(3)) // both of commonMetadata
		f.Add(key, value, uint32(1<<(i%20)))
		f.Add(key, value, ^uint32(0)<<(i%4)) // nearly all options
	}
	catalog, content := filesIn(f, "testdata/golden/instances/catalog"), readFile(f, "testdata/golden/instances/selection.yaml")
	f.Fuzz(func(t *testing.T, key, value string, options uint32) {
		cs := &v1alpha1.CatalogSelection{}
		if err := yaml.UnmarshalStrict(content, cs); err != nil {
			t.Fatal(err)
		}
		d := drawn{key: key, value: value, options: options}
		d.edit(&cs.Spec)
		files := maps.Clone(catalog)
		files["applications/own/application.yaml"] = &fstest.MapFile{Data: d.definition()}
		result, err := renderFS(context.Background(), files, cs)
		if err != nil {
			if reasonOf(err) == "" {
				t.Fatalf("content in memory gives the transient error %v", err)
			}
			return
		}
		checkSelected(t, result, cs.Spec.CommonMetadata)
	})
}

// drawn is a key with a value, and where they are used.
type drawn struct {
	key, value string
	options    uint32
}

func (d drawn) is(option int) bool { return d.options&(1<<option) != 0 }

func (d drawn) pairs(option int) map[string]string {
	if !d.is(option) {
		return nil
	}
	return map[string]string{d.key: d.value}
}

func (d drawn) edit(spec *v1alpha1.CatalogSelectionSpec) {
	spec.Patches = nil
	spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: d.pairs(0), Annotations: d.pairs(1)}
	values := &apiextensionsv1.JSON{Raw: encoded(map[string]any{"metadata": map[string]any{"annotations": map[string]string{d.key: d.value}}, d.key: d.value})}
	if d.is(2) {
		spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	}
	if d.is(3) {
		spec.Provenance = v1alpha1.ProvenanceObject
	}
	if d.is(4) {
		spec.Definitions = v1alpha1.DefinitionsOmit
	}
	if d.is(5) {
		spec.OmitFields = []string{"defaultValuesBlock", d.key}
	}
	if d.is(6) {
		spec.Mirrors = nil
	}
	if d.is(7) {
		spec.Values = append(spec.Values, v1alpha1.ValuesRule{Names: []string{"own"}, Defaults: values, Overrides: values, InstanceOverrides: values})
	}
	if d.is(8) {
		spec.Exclude = []string{"net", d.value}
	}
	if d.is(9) {
		spec.Versions = []v1alpha1.VersionRule{{Names: []string{"web"}, Constraint: d.value, Latest: 1}}
	}
	if spec.Instances["own"] = d.instance(values); d.is(10) {
		spec.Instances = nil
	}
}

// instance returns an instance by one of the backends that fit KKP's and Cozystack's definitions.
func (d drawn) instance(values *apiextensionsv1.JSON) v1alpha1.Instance {
	in := v1alpha1.Instance{Values: values, Suspend: d.is(13)}
	if d.is(11) {
		in.Backend = "Helm"
	}
	if d.is(12) {
		in.ReleaseName, in.StorageNamespace, in.Namespace = "own", "flux-system", "own"
		in.CreateNamespace, in.DependsOn = new(true), []string{"web"}
		in.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "own", TargetPath: d.key}}
	}
	return in
}

// definition returns an application whose metadata, the metadata of its namespace and release, and kind are drawn.
func (d drawn) definition() []byte {
	metadata := map[string]any{"name": "own", "labels": d.pairs(14), "annotations": d.pairs(15)}
	if d.is(16) {
		return encoded(map[string]any{
			"apiVersion": "cozystack.io/v1alpha1", "kind": "ApplicationDefinition", "metadata": metadata,
			"spec": map[string]any{
				"application": map[string]any{"kind": "Own" + d.value, "plural": "owns", "singular": "own", "openAPISchema": "{}"},
				"release":     map[string]any{"prefix": "own-", "labels": d.pairs(17), "chartRef": map[string]any{"kind": "OCIRepository", "name": "own"}},
			},
		})
	}
	return encoded(map[string]any{
		"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationDefinition", "metadata": metadata,
		"spec": map[string]any{
			"method": "helm", "defaultVersion": "1.0.0", "defaultValuesBlock": d.key + ": " + d.value + "\n",
			"defaultNamespace": map[string]any{"name": "own", "create": true, "labels": d.pairs(17), "annotations": d.pairs(18)},
			"versions": []any{map[string]any{"version": "1.0.0", "template": map[string]any{"source": map[string]any{
				"helm": map[string]any{"url": "https://charts.example.org", "chartName": "own", "chartVersion": "1.0.0"},
			}}}},
		},
	})
}

// checkSelected compares what kustomize builds of an artifact with what is selected.
func checkSelected(t *testing.T, result *render.Result, common *v1alpha1.CommonMetadata) {
	built, err := build(result.Tree)
	if err != nil {
		t.Fatalf("kustomize refuses what is rendered: %v", err)
	}
	want := map[safeguard.Key]bool{}
	for _, d := range result.Live() {
		want[d.Key()] = true
	}
	for _, key := range result.Supporting {
		want[key] = true
	}
	got := map[safeguard.Key]bool{}
	for _, object := range built.Resources() {
		id := object.CurId()
		got[safeguard.Key{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}] = true
		for key, value := range common.Labels {
			if object.GetLabels()[key] != value {
				t.Errorf("the label %q of %s is %q, want %q", key, id, object.GetLabels()[key], value)
			}
		}
		for key, value := range common.Annotations {
			if object.GetAnnotations()[key] != value {
				t.Errorf("the annotation %q of %s is %q, want %q", key, id, object.GetAnnotations()[key], value)
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("kustomize builds\n%s\nwant\n%s", list(got), list(want))
	}
	if text, err := built.AsYaml(); err != nil || strings.Count(string(text), "\n---\n")+1 < len(want) {
		t.Errorf("kustomize prints\n%s\n%v", text, err)
	}
}

func list(keys map[safeguard.Key]bool) string {
	var names []string
	for key := range keys {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding %v: %v", value, err))
	}
	return text
}

func filesIn(t testing.TB, dir string) fstest.MapFS {
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[name] = &fstest.MapFile{Data: readFile(t, dir+"/"+name)}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
