// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/tree"
)

// Whoever opens a pull request may name an artifact of their own, in a registry of their own. What it is compared by has to be
// what Flux applies, or it has to be refused.
func TestAnArtifactIsComparedAsItIsBuilt(t *testing.T) {
	const all = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" +
		"resources:\n- applicationdefinitions/argocd.yaml\n- applicationdefinitions/loki.yaml\n"
	loki := strings.Replace(artifactDefinition, "argocd", "loki", 1)
	for _, test := range []struct{ name, kustomization, loki string }{
		{"as Winnow writes it", all, ""},
		{"a resource that is left out", strings.Replace(all, "- applicationdefinitions/loki.yaml\n", "", 1), ""},
		{"a strategic merge patch", all + "patchesStrategicMerge:\n- |-\n  apiVersion: apps.kubermatic.k8c.io/v1\n  kind: ApplicationDefinition\n  metadata: {name: loki}\n  $patch: delete\n", ""},
		{"a JSON patch", all + "patchesJson6902:\n- target: {kind: ApplicationDefinition, name: argocd}\n  patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0\"}]'\n", ""},
		{
			"a transformer", all + "transformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n" +
				"  target: {name: argocd}\n  patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0\"}]'\n", "",
		},
		{"a patch that makes a list of an object", adding(t, "/items", "[]"), ""},
		{"a patch by which kustomize drops an object", adding(t, "/metadata/annotations", `{"config.kubernetes.io/local-config": "true"}`), ""},
		{"a prefix", all + "namePrefix: x-\n", ""},
		{
			"a replacement", all + "replacements:\n- source: {kind: ApplicationDefinition, name: loki, fieldPath: metadata.name}\n" +
				"  targets: [{select: {name: argocd}, fieldPaths: [spec.versions.0.version]}]\n", "",
		},
		{"an annotation by which kustomize drops all", all + annotating("config.kubernetes.io/local-config", `"true"`), ""},
		{"an object that kustomize leaves out", all, strings.Replace(loki, "{name: loki}", "{name: loki, annotations: {config.kubernetes.io/local-config: 'true'}}", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.loki == "" {
				test.loki = loki
			}
			files := []string{"applicationdefinitions/argocd.yaml", artifactDefinition, "applicationdefinitions/loki.yaml", test.loki, "kustomization.yaml", test.kustomization}
			result, err := render.ReadResult(t.Context(), packed(t, files...))
			if err != nil && test.name != "as Winnow writes it" {
				return // refused
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(test.kustomization, "/items") {
				t.Error("Flux takes the object for a list, and applies its items instead")
			}
			var compared []string
			for _, d := range result.Definitions {
				compared = append(compared, fmt.Sprintf("%s %v", d.Name, d.Versions))
			}
			if is := built(t, files...); !slices.Equal(compared, is) {
				t.Errorf("it is compared as %q, and Flux applies %q", compared, is)
			}
		})
	}
}

// What is set on all objects has the form that Winnow writes, and so have the files of instances.
func TestAnArtifactThatSteersKustomizeOrFluxIsRefused(t *testing.T) {
	const (
		k      = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- applicationdefinitions/argocd.yaml\n"
		file   = "instances/apps/helmrelease-x.yaml"
		listed = k + "- " + file + "\n"

		ofInstance = "catalog.winnow.dev/instance: x"
	)
	object := func(more string) string {
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: apps, annotations: {" + more + "}}\nspec: {}\n"
	}
	for _, test := range []struct{ name, kustomization, object, want string }{
		{"an annotation of kustomize", k + annotating("config.kubernetes.io/local-config", `"true"`), "", `sets "config.kubernetes.io/local-config"`},
		{"an annotation of Flux", k + annotating("kustomize.toolkit.fluxcd.io/force", "enabled"), "", `sets "kustomize.toolkit.fluxcd.io/force": "enabled"`},
		{"another value of it", k + annotating("kustomize.toolkit.fluxcd.io/ssa", "Ignore"), "", `sets "kustomize.toolkit.fluxcd.io/ssa": "Ignore"`},
		{"a label of kustomize", k + "labels:\n- pairs:\n    config.kubernetes.io/x: \"true\"\n", "", `sets "config.kubernetes.io/x"`},
		{"an object of an instance", listed, object(ofInstance), ""},
		{"an object of no instance", listed, object(""), "is of none of its instances"},
		{"one that kustomize drops", listed, object(ofInstance + ", config.kubernetes.io/local-config: 'true'"), `sets "config.kubernetes.io/local-config"`},
		{"one that is a list", listed, object(ofInstance) + "items: []\n", "takes it for a list"},
		{
			"one of a kind that no backend makes", strings.Replace(listed, "helmrelease-x", "kustomization-x", 1),
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x, namespace: apps, annotations: {" + ofInstance + "}}\n", "is of none of its instances",
		},
		{"one in another file", strings.Replace(listed, "helmrelease-x", "x", 1), object(ofInstance), "is not what Winnow writes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := []string{"applicationdefinitions/argocd.yaml", artifactDefinition, "kustomization.yaml", test.kustomization}
			if test.object != "" {
				path := file
				if strings.Contains(test.object, "kind: Kustomization") {
					path = strings.Replace(file, "helmrelease", "kustomization", 1)
				}
				files = append(files, path, test.object)
			}
			_, err := render.ReadResult(t.Context(), packed(t, files...))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("ReadResult() = %v, want %s", err, test.want)
			}
		})
	}
}

// adding returns a kustomization.yaml as Winnow writes it, with a patch that adds a value to argocd.
func adding(t *testing.T, path, value string) string {
	t.Helper()
	content, err := tree.Kustomization{
		Resources: []string{"applicationdefinitions/argocd.yaml", "applicationdefinitions/loki.yaml"},
		Patches:   []kustomize.Patch{{Patch: fmt.Sprintf(`[{"op": "add", "path": %q, "value": %s}]`, path, value), Target: &kustomize.Selector{Name: "argocd"}}},
	}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// annotating returns the transformer that sets an annotation of all objects, as Winnow writes it.
func annotating(key, value string) string {
	return "transformers:\n- |\n  apiVersion: builtin\n  kind: AnnotationsTransformer\n  metadata:\n    name: annotations\n  annotations:\n    " +
		key + ": " + value + "\n  fieldSpecs:\n  - path: metadata/annotations\n    create: true\n"
}

// built returns the names and versions that kustomize builds of files.
func built(t *testing.T, files ...string) (all []string) {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	for i := 0; i < len(files); i += 2 {
		if err := disk.WriteFile(files[i], []byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects.Resources() {
		text, err := object.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var of struct {
			Metadata struct{ Name string }
			Spec     struct{ Versions []struct{ Version string } }
		}
		if err := yaml.Unmarshal(text, &of); err != nil {
			t.Fatal(err)
		}
		var versions []string
		for _, v := range of.Spec.Versions {
			versions = append(versions, v.Version)
		}
		all = append(all, fmt.Sprintf("%s %v", of.Metadata.Name, versions))
	}
	slices.Sort(all)
	return all
}
