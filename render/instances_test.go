package render_test

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// renderInstances renders the golden case of instances after an edit.
func renderInstances(t *testing.T, edit func(*v1alpha1.CatalogSelectionSpec)) (*render.Result, error) {
	t.Helper()
	const dir = "testdata/golden/instances"
	cs := readSelection(t, dir+"/selection.yaml")
	edit(&cs.Spec)
	return renderFS(t.Context(), os.DirFS(dir+"/catalog"), cs)
}

// An artifact says what it installs, and a patch can change the release of an instance, but not hide the instance.
func TestInstancesOfAnArtifactAreRead(t *testing.T) {
	for name, patches := range map[string][]kustomize.Patch{
		"without patches": nil,
		"with another release": {{
			Patch:  "- {op: replace, path: /spec/releaseName, value: other}\n- {op: remove, path: /metadata/annotations/catalog.winnow.dev~1instance}\n",
			Target: &kustomize.Selector{Kind: "HelmRelease", Name: "web"},
		}},
		"with helm-controller's defaults": {{
			Patch:  "- {op: remove, path: /spec/releaseName}\n- {op: remove, path: /spec/storageNamespace}\n",
			Target: &kustomize.Selector{Kind: "HelmRelease"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := renderInstances(t, func(spec *v1alpha1.CatalogSelectionSpec) { spec.Patches = patches })
			if err != nil {
				t.Fatal(err)
			}
			var written bytes.Buffer
			if err := result.WriteArchive(&written); err != nil {
				t.Fatal(err)
			}
			got, err := render.ReadArtifact(t.Context(), &written)
			if err != nil {
				t.Fatal(err)
			}
			var want []safeguard.Definition
			for _, d := range result.Compared() {
				if d.Source = ""; d.Instance != "" {
					d.Origins = nil
					delete(d.Identity, render.ChartField)
				}
				want = append(want, d)
			}
			slices.SortStableFunc(got, func(a, b safeguard.Definition) int { return strings.Compare(a.Instance, b.Instance) })
			if len(got) != 7 || !reflect.DeepEqual(got, want) {
				t.Errorf("read is\n%+v\nwant\n%+v", got, want)
			}
		})
	}
}

func TestTheIdentityIsThatOfThePatchedObject(t *testing.T) {
	result, err := renderInstances(t, func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Patches = []kustomize.Patch{{
			Patch: "- {op: remove, path: /spec/releaseName}\n- {op: remove, path: /spec/storageNamespace}\n", Target: &kustomize.Selector{Kind: "HelmRelease", Name: "web-two"},
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(result.Instances, func(in render.Instance) bool { return in.Name == "web-two" })
	want := map[string]string{"releaseName": "two-web-two", "storageNamespace": "flux-system", "targetNamespace": "two", "chart": "web"}
	if got := result.Instances[i].Main.Identity; !reflect.DeepEqual(got, want) {
		t.Errorf("the identity is %v, want %v", got, want)
	}
}

// Definitions can be left out. The instances are the same.
func TestDefinitionsCanBeOmitted(t *testing.T) {
	all, err := renderInstances(t, func(*v1alpha1.CatalogSelectionSpec) {})
	if err != nil {
		t.Fatal(err)
	}
	result, err := renderInstances(t, func(spec *v1alpha1.CatalogSelectionSpec) { spec.Definitions = v1alpha1.DefinitionsOmit })
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Definitions) > 0 || !reflect.DeepEqual(result.Instances, all.Instances) {
		t.Errorf("the definitions are %v, the instances %v", result.Definitions, result.Instances)
	}
	for path, content := range files(result.Tree) {
		if strings.HasPrefix(path, render.ApplicationsDir) || path != render.KustomizationFile && files(all.Tree)[path] != content {
			t.Errorf("%s is in the artifact, or differs", path)
		}
	}
}

func TestInstancesThatCannotBeRendered(t *testing.T) {
	in := func(name string, instance v1alpha1.Instance) func(*v1alpha1.CatalogSelectionSpec) {
		return func(spec *v1alpha1.CatalogSelectionSpec) { spec.Instances[name] = instance }
	}
	for _, test := range []struct {
		name, code, want string
		edit             func(*v1alpha1.CatalogSelectionSpec)
	}{
		{"a patch renames a release", "InvalidSpec", "patches must not remove or rename objects", func(spec *v1alpha1.CatalogSelectionSpec) {
			spec.Patches = []kustomize.Patch{{Patch: "- {op: replace, path: /metadata/name, value: x}\n", Target: &kustomize.Selector{Kind: "HelmRelease", Name: "web"}}}
		}},
		{"a patch moves a release", "InvalidSpec", "patches must not remove or rename objects", func(spec *v1alpha1.CatalogSelectionSpec) {
			spec.Patches = []kustomize.Patch{{Patch: "- {op: replace, path: /metadata/namespace, value: x}\n", Target: &kustomize.Selector{Kind: "HelmRelease", Name: "web"}}}
		}},
		{"two of one release", "InvalidSpec", "is also that of the instance \"three\"", in("three", v1alpha1.Instance{
			Application: "web", ReleaseName: "second", StorageNamespace: "two",
		})},
		{"a name that is none", "InvalidSpec", "spec.instances[A_b]", in("A_b", v1alpha1.Instance{Application: "web"})},
		{"an unknown backend", "InvalidSpec", "spec.instances[x].backend", in("x", v1alpha1.Instance{Backend: "Chart"})},
		{"itself", "InvalidSpec", "spec.instances[x].dependsOn[0]", in("x", v1alpha1.Instance{Application: "web", DependsOn: []string{"x"}})},
		{"a dependency with another backend", "InvalidSpec", "only instances with the same backend", in("x", v1alpha1.Instance{
			Application: "web", Backend: "ApplicationInstallation", DependsOn: []string{"web"},
		})},
		{"a circle by @system", "InvalidSpec", "depend on each other", func(spec *v1alpha1.CatalogSelectionSpec) {
			network := spec.Instances["network"]
			network.DependsOn = []string{"web"}
			spec.Instances["network"] = network
		}},
		{"@system of a system application", "InvalidSpec", "@system includes the instance itself", func(spec *v1alpha1.CatalogSelectionSpec) {
			network := spec.Instances["network"]
			network.DependsOn = []string{"@system"}
			spec.Instances["network"] = network
		}},
		{"values against the schema", "InvalidSpec", "values.cores", in("one", v1alpha1.Instance{Application: "vm", Backend: "Helm", Values: &apiextensionsv1.JSON{Raw: []byte(`{"cores": "two"}`)}})},
		{"nothing is left", "EmptyResult", "spec.definitions is Omit", func(spec *v1alpha1.CatalogSelectionSpec) {
			spec.Definitions, spec.Instances = v1alpha1.DefinitionsOmit, map[string]v1alpha1.Instance{"x": {Application: "unknown"}}
			spec.Patches = nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := renderInstances(t, test.edit)
			if err == nil || reasonOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %s: %v", reasonOf(err), err)
			}
		})
	}
}
