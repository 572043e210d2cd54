// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render"
)

// Whoever opens a pull request may name an artifact of their own, in a registry of their own. What it is compared by has to be
// what Flux applies, or it has to be refused.
func TestAnArtifactIsComparedAsItIsBuilt(t *testing.T) {
	const all = "resources: [applicationdefinitions/argocd.yaml, applicationdefinitions/loki.yaml]\n"
	loki := strings.Replace(artifactDefinition, "argocd", "loki", 1)
	for _, test := range []struct{ name, kustomization, loki string }{
		{"as Winnow writes it", all, ""},
		{"a resource that is left out", "resources: [applicationdefinitions/argocd.yaml]\n", ""},
		{"a strategic merge patch", all + "patchesStrategicMerge:\n- |-\n  apiVersion: apps.kubermatic.k8c.io/v1\n  kind: ApplicationDefinition\n  metadata: {name: loki}\n  $patch: delete\n", ""},
		{"a JSON patch", all + "patchesJson6902:\n- target: {kind: ApplicationDefinition, name: argocd}\n  patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0\"}]'\n", ""},
		{
			"a transformer", all + "transformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n" +
				"  target: {name: argocd}\n  patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0\"}]'\n", "",
		},
		{"a prefix", all + "namePrefix: x-\n", ""},
		{
			"a replacement", all + "replacements:\n- source: {kind: ApplicationDefinition, name: loki, fieldPath: metadata.name}\n" +
				"  targets: [{select: {name: argocd}, fieldPaths: [spec.versions.0.version]}]\n", "",
		},
		{"an object that kustomize leaves out", all, strings.Replace(loki, "{name: loki}", "{name: loki, annotations: {config.kubernetes.io/local-config: 'true'}}", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.loki == "" {
				test.loki = loki
			}
			files := []string{"applicationdefinitions/argocd.yaml", artifactDefinition, "applicationdefinitions/loki.yaml", test.loki, "kustomization.yaml", test.kustomization}
			result, err := render.ReadResult(t.Context(), packed(t, files...))
			if err != nil {
				return // refused
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
