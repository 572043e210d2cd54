// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/kustomized"
)

// plainFlux is the selection in examples/plain-flux, without its overlays.
func plainFlux(t *testing.T, change func(*v1alpha1.CatalogSelectionSpec)) (*render.Result, error) {
	t.Helper()
	cs := readSelection(t, "../examples/plain-flux/base/selection.yaml")
	change(&cs.Spec)
	return renderFS(t.Context(), os.DirFS("../examples/plain-flux/catalog"), cs)
}

// builtObjects returns the objects that kustomize builds of an artifact, by kind and name.
func builtObjects(t *testing.T, result *render.Result) map[string]map[string]any {
	t.Helper()
	stream, err := kustomized.YAML(result.Tree)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for document := range strings.SplitSeq(string(stream), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		kind, _ := object["kind"].(string)
		all[kind+" "+name] = object
	}
	return all
}

// What Flux may delete is decided by what an object is for.
func TestAnnotationsOfTheObjectsOfInstances(t *testing.T) {
	const prefix = "kustomize.toolkit.fluxcd.io/"
	for _, test := range []struct {
		deletionPolicy, definitions string
		want                        map[string]string
	}{
		{v1alpha1.DeletionPolicyOrphan, v1alpha1.DefinitionsPublish, map[string]string{
			"ApplicationDefinition": "prune=disabled ssa=Merge substitute=disabled", "HelmRelease": "prune=disabled substitute=disabled",
			"ConfigMap": "substitute=disabled", "OCIRepository": "", "Namespace": "prune=disabled ssa=IfNotPresent",
		}},
		{v1alpha1.DeletionPolicyDelete, v1alpha1.DefinitionsOmit, map[string]string{
			"HelmRelease": "substitute=disabled", "ConfigMap": "substitute=disabled", "OCIRepository": "", "Namespace": "prune=disabled ssa=IfNotPresent",
		}},
	} {
		t.Run(test.deletionPolicy, func(t *testing.T) {
			result, err := plainFlux(t, func(s *v1alpha1.CatalogSelectionSpec) {
				s.DeletionPolicy, s.Definitions = test.deletionPolicy, test.definitions
			})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for name, object := range builtObjects(t, result) {
				kind, _, _ := strings.Cut(name, " ")
				metadata, _ := object["metadata"].(map[string]any)
				annotations, _ := metadata["annotations"].(map[string]any)
				var found []string
				for _, key := range slices.Sorted(maps.Keys(annotations)) {
					if short, isFlux := strings.CutPrefix(key, prefix); isFlux {
						found = append(found, short+"="+annotations[key].(string))
					}
				}
				text := strings.Join(found, " ")
				if other, twice := got[kind]; twice && other != text {
					t.Errorf("%s has %q, another one %q", name, text, other)
				}
				got[kind] = text
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestInstancesAreThoseThatKustomizeBuilds(t *testing.T) {
	const patch = "- {op: replace, path: /spec/releaseName, value: renamed}"
	result, err := plainFlux(t, func(s *v1alpha1.CatalogSelectionSpec) {
		s.Patches = []kustomize.Patch{{Patch: patch, Target: &kustomize.Selector{Kind: "HelmRelease", Name: "alerts"}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range result.Instances {
		i := in.Main.Identity
		got = append(got, strings.Join([]string{in.Name, in.Application, in.Version, i["chart"], i["releaseName"], i["targetNamespace"], i["storageNamespace"]}, " "))
	}
	want := []string{
		"alerts alert-rules 1.0.0 alert-rules renamed alerting flux-system",
		"dashboards dashboards 1.4.2 dashboards dashboards monitoring flux-system",
		"logs log-pipeline 0.9.0 log-pipeline logs logging flux-system",
		"trust-bundle trust-bundle 1.1.0 trust-bundle trust-bundle trust flux-system",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(result.Definitions) > 0 || len(result.Compared()) != len(want) {
		t.Errorf("%d definitions, %d objects to compare", len(result.Definitions), len(result.Compared()))
	}
}

// An instance that cannot be installed is left out and named, and the others stay.
func TestAnInstanceThatMatchesNothing(t *testing.T) {
	result, err := plainFlux(t, func(s *v1alpha1.CatalogSelectionSpec) {
		logs := s.Instances["logs"]
		logs.Version = "^2"
		s.Instances["logs"] = logs
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Instances) != 3 || len(result.Unresolved) != 1 || len(result.Unmatched) != 1 {
		t.Fatalf("instances %v, unresolved %v, unmatched %v", result.Instances, result.Unresolved, result.Unmatched)
	}
	if got := result.Unmatched[0]; got.Field != "spec.instances[logs].version" || got.Value != "^2" || got.Reason == "" {
		t.Errorf("unmatched: %+v", got)
	}
	for _, path := range result.Tree.Paths() {
		if strings.Contains(path, "logs") {
			t.Errorf("the artifact has %s", path)
		}
	}
	_, err = plainFlux(t, func(s *v1alpha1.CatalogSelectionSpec) {
		s.Exclude = []string{"alert-rules", "dashboards", "log-pipeline", "trust-bundle"}
	})
	if reasonOf(err) != v1alpha1.EmptyResultReason {
		t.Errorf("a selection of nothing: %v", err)
	}
}
