// SPDX-License-Identifier: Apache-2.0

package instance_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/selection"
)

const (
	app = `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: app}
spec:
  method: helm
  defaultVersion: 1.0.0
  defaultValues: {size: 1, level: low}
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: "oci://charts.example.org/platform", chartName: app, chartVersion: 1.0.0}}}
`
	network = `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: network, labels: {apps.kubermatic.k8c.io/type: cni}}
spec:
  method: helm
  defaultVersion: 1.0.0
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: "https://charts.example.org", chartName: network, chartVersion: 1.0.0}}}
`
	stranger = `
apiVersion: example.org/v1
kind: ApplicationDefinition
metadata: {name: stranger}
spec: {}
`
)

// build builds instances of app, network and stranger, with values that win over those of instances of app.
func build(t *testing.T, instances string, overrides map[string]any) ([]instance.Built, error) {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range map[string]string{"app": app, "network": network, "stranger": stranger} {
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, err := catalog.Load(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	result, err := selection.Select(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, selection.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	resolved, unresolved := instance.Resolve(specs(t, instances), result)
	if len(unresolved) > 0 {
		t.Fatal(unresolved)
	}
	return instance.Build(t.Context(), resolved, instance.Surroundings{
		Document: func(application string) []byte {
			return files["applications/"+application+"/application.yaml"].Data
		},
		Overrides: func(application string) map[string]any {
			if application == "app" {
				return overrides
			}
			return nil
		},
		Access: func(url string) backend.Access {
			if url == "oci://charts.example.org/platform" {
				return backend.Access{SecretRef: "registry"}
			}
			return backend.Access{}
		},
	})
}

// valueAt returns a field of the only object of an instance with this kind.
func valueAt(t *testing.T, built []instance.Built, name, kind string, path ...string) any {
	t.Helper()
	for _, b := range built {
		for _, object := range b.Objects {
			if b.Name == name && object.GetKind() == kind {
				value, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
				return value
			}
		}
	}
	t.Fatalf("%s has no %s", name, kind)
	return nil
}

func TestValuesOfTheInstanceAndWhatWins(t *testing.T) {
	built, err := build(t, `
a: {application: app, values: {level: high, extra: null, deep: {one: 1, two: [1, 2]}}}
b: {application: app}
c: {application: network, values: {x: 1}}
`, map[string]any{"level": "fixed", "deep": map[string]any{"two": []any{int64(3)}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"a": map[string]any{"level": "fixed", "extra": nil, "deep": map[string]any{"one": int64(1), "two": []any{int64(3)}}},
		"b": map[string]any{"level": "fixed", "deep": map[string]any{"two": []any{int64(3)}}},
		"c": map[string]any{"x": int64(1)},
	} {
		if got := valueAt(t, built, name, "HelmRelease", "spec", "values"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the values %v, want %v", name, got, want)
		}
	}
	if got := valueAt(t, built, "a", "OCIRepository", "spec", "secretRef", "name"); got != "registry" {
		t.Errorf("the secret of the chart is %v", got)
	}
}

func TestWhatComesFirst(t *testing.T) {
	built, err := build(t, `
z: {application: network}
b: {application: app, dependsOn: ["@system", m]}
m: {application: network, dependsOn: [z]}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, b := range built {
		order = append(order, b.Name)
	}
	if want := []string{"b", "m", "z"}; !reflect.DeepEqual(order, want) {
		t.Errorf("the order is %q, want %q", order, want)
	}
	for name, want := range map[string]any{
		"b": []any{map[string]any{"name": "m"}, map[string]any{"name": "z"}},
		"m": []any{map[string]any{"name": "z"}},
		"z": nil,
	} {
		if got := valueAt(t, built, name, "HelmRelease", "spec", "dependsOn"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s depends on %v, want %v", name, got, want)
		}
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	for _, test := range []struct{ name, instances, want string }{
		{"a system application after all of them", "{a: {application: network, dependsOn: ['@system']}}",
			"instance a: dependsOn: @system includes the instance itself"},
		{"a cycle by way of all system applications", "{a: {application: app, dependsOn: ['@system']}, b: {application: network, dependsOn: [a]}}",
			`instance a: dependsOn: instances depend on each other: ["a" "b" "a"]`},
		{"one after an instance of another backend", "{a: {application: app, dependsOn: [b]}, b: {application: app, backend: ApplicationInstallation}}",
			"instance a: dependsOn: b has the backend ApplicationInstallation"},
		{"a definition that no backend reads", "{a: {application: stranger}}",
			`instance a: backend: no backend installs definitions of the API group "example.org"`},
		{"a definition of another backend", "{a: {application: app, backend: Application}}", "instance a: "},
		{"every problem of all of them", "{a: {application: stranger}, b: {application: stranger}}", "instance b: backend"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if built, err := build(t, test.instances, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and %v, want %s", built, err, test.want)
			}
		})
	}
}

// The same instances give the same objects, whatever the order of a map is.
func TestTheSameInstancesGiveTheSameObjects(t *testing.T) {
	const instances = "{a: {application: app, dependsOn: ['@system']}, b: {application: network}, c: {application: network}, d: {application: app, values: {c: 1, b: 2, a: 3}}}"
	first, err := build(t, instances, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := build(t, instances, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if !reflect.DeepEqual(first[i].Objects, again[i].Objects) {
				t.Fatalf("%s is %v, and was %v", first[i].Name, again[i].Objects, first[i].Objects)
			}
		}
	}
}
