// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
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
			got := readBack(t, result)
			var want []safeguard.Definition
			for _, d := range result.Compared() {
				if d.Source = ""; d.Instance != "" {
					d.Origins = nil
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
	i := slices.IndexFunc(result.Instances, func(in installation.Instance) bool { return in.Name == "web-two" })
	want := map[string]string{"releaseName": "two-web-two", "storageNamespace": "flux-system", "targetNamespace": "two", "chart": "web"}
	if got := result.Instances[i].Main.Identity; !reflect.DeepEqual(got, want) {
		t.Errorf("the identity is %v, want %v", got, want)
	}
}

// An ApplicationInstallation states which application it installs, without the annotations of Winnow.
func TestTheApplicationOfALiveInstallation(t *testing.T) {
	main := installation.MainOf(map[string]any{
		"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationInstallation", "metadata": map[string]any{"name": "a", "namespace": "ns"},
		"spec": map[string]any{"applicationRef": map[string]any{"name": "web", "version": "1.0.0"}},
	})
	if main.Application != "web" {
		t.Errorf("the application is %q", main.Application)
	}
}

// Another module would destroy what the first one has made.
func TestTheModuleOfTerraform(t *testing.T) {
	module := func(path string) safeguard.Definition {
		return installation.MainOf(map[string]any{
			"apiVersion": "infra.contrib.fluxcd.io/v1alpha2", "kind": "Terraform",
			"metadata": map[string]any{"name": "a", "namespace": "ns", "annotations": map[string]any{v1alpha1.InstanceAnnotation: "a"}},
			"spec":     map[string]any{"path": path, "sourceRef": map[string]any{"kind": "GitRepository", "name": "modules"}},
		})
	}
	changes := safeguard.Compare([]safeguard.Definition{module("./vm")}, []safeguard.Definition{module("./bucket")})
	if len(changes) != 1 || changes[0].Reason != v1alpha1.IdentityChangeReason || changes[0].From != "GitRepository ns/modules ./vm" || changes[0].To != "GitRepository ns/modules ./bucket" {
		t.Errorf("the changes are %+v", changes)
	}
	if changes := safeguard.Compare([]safeguard.Definition{module("./vm")}, []safeguard.Definition{module("vm/")}); len(changes) > 0 {
		t.Errorf("of another spelling of the path: %+v", changes)
	}
}

// Instances can repeat the values of one definition hundreds of times.
func TestCostOfTheObjectsOfInstances(t *testing.T) {
	_, err := renderInstances(t, func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Patches, spec.Instances = nil, map[string]v1alpha1.Instance{}
		spec.Values[0].InstanceOverrides = &apiextensionsv1.JSON{Raw: []byte(`{"text": "` + strings.Repeat("x", 1_000_000) + `"}`)}
		for i := range 80 {
			spec.Instances[fmt.Sprintf("web-%02d", i)] = v1alpha1.Instance{Application: "web", Version: "1.1.0"}
		}
	})
	if err == nil || reasonOf(err) != "InvalidSpec" || !strings.Contains(err.Error(), "instance web-67: the objects of this instance and those before it take more than 67108864 bytes") {
		t.Errorf("the error is %s: %.300v", reasonOf(err), err)
	}
}

// A render that takes too long ends between two instances.
func TestTheEndOfTheContextEndsTheBuildOfInstances(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	built, err := instance.Build(ctx, []instance.Resolved{{Spec: instance.Spec{Name: "web"}, Decision: selection.Decision{Application: &catalog.Application{}}}}, instance.Surroundings{})
	if !errors.Is(err, context.Canceled) || built != nil {
		t.Errorf("built is %v, the error %v", built, err)
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

func TestReleasesOfOneNameInTwoNamespaces(t *testing.T) {
	if _, err := renderInstances(t, func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Instances["three"] = v1alpha1.Instance{Application: "web", ReleaseName: "web", Namespace: "other", StorageNamespace: "other"}
	}); err != nil {
		t.Error(err)
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
		{"two of one release", "InvalidSpec", "also belongs to the instance \"three\"", in("three", v1alpha1.Instance{
			Application: "web", ReleaseName: "second", StorageNamespace: "two",
		})},
		{"one release twice", "InvalidSpec", "instance web-two: releaseName: the release \"two/x\" also belongs to the instance \"web\"", func(spec *v1alpha1.CatalogSelectionSpec) {
			for _, name := range []string{"web", "web-two"} {
				in := spec.Instances[name]
				in.ReleaseName, in.StorageNamespace = "x", "two"
				spec.Instances[name] = in
			}
		}},
		{"the release that is called like another instance", "InvalidSpec", "set another releaseName", in("three", v1alpha1.Instance{Application: "web", ReleaseName: "web"})},
		{"one release twice by a patch", "InvalidSpec", "also belongs to the instance", func(spec *v1alpha1.CatalogSelectionSpec) {
			spec.Patches = []kustomize.Patch{{
				Patch: "- {op: add, path: /spec/releaseName, value: x}\n", Target: &kustomize.Selector{Kind: "HelmRelease"},
			}}
		}},
		{"two releases of one name in one namespace", "InvalidSpec", "the release \"web/web\" also belongs to the instance", in("three", v1alpha1.Instance{
			Application: "web", ReleaseName: "web", StorageNamespace: "other",
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
