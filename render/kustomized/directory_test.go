// SPDX-License-Identifier: Apache-2.0

package kustomized

import (
	"testing"

	flux "github.com/fluxcd/pkg/kustomize"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestDirectoriesAreBuiltAsByFlux builds directories one after the other, some of which replace the schema that kustomize
// keeps for the process.
func TestDirectoriesAreBuiltAsByFlux(t *testing.T) {
	const schema = `{"definitions": {"dev.example.Box": {"type": "object", "properties": {"spec": {"type": "object",
"properties": {"items": {"type": "array", "items": {"type": "object"},
"x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}}}},
"x-kubernetes-group-version-kind": [{"group": "example.dev", "kind": "Box", "version": "v1"}]}}}`
	files := map[string]string{
		"base/box.yaml": "apiVersion: example.dev/v1\nkind: Box\nmetadata: {name: box}\nspec: {items: [{name: a, x: 1}, {name: b}]}\n",
		"base/deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: box}\n" +
			"spec: {template: {spec: {containers: [{name: a, image: a}, {name: b, image: b}]}}}\n",
		"base/kustomization.yaml": "resources: [box.yaml, deployment.yaml]\npatches:\n" +
			"- patch: '{apiVersion: example.dev/v1, kind: Box, metadata: {name: box}, spec: {items: [{name: a, y: 2}]}}'\n" +
			"- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: box}, spec: {template: {spec: {containers: [{name: a, image: c}]}}}}'\n",
		"schema.json":                schema,
		"merged/kustomization.yaml":  "resources: [../base]\nopenapi: {path: ../schema.json}\n",
		"nested/kustomization.yaml":  "resources: [../merged]\n",
		"version/kustomization.yaml": "resources: [../base]\nopenapi: {version: v1.20.4}\n",
		"broken/kustomization.yaml":  "resources: [../base]\nopenapi: {path: ../base/box.yaml}\n",
	}
	fs := filesys.MakeFsInMemory()
	for name, content := range files {
		if err := fs.WriteFile("/"+name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	for _, dir := range []string{"base", "merged", "nested", "version", "broken"} {
		resources, err := flux.Build(fs, "/"+dir)
		want[dir] = describe(t, resources, err)
	}
	if want["base"] == want["nested"] {
		t.Fatal("the schema has no effect")
	}
	for first := range want {
		for _, dir := range []string{first, "base"} {
			resources, err := Directory(fs, "/"+dir)
			if got := describe(t, resources, err); got != want[dir] {
				t.Errorf("with %s, %s is\n%s\nwant\n%s", first, dir, got, want[dir])
			}
		}
	}
}

func describe(t *testing.T, resources interface{ AsYaml() ([]byte, error) }, err error) string {
	t.Helper()
	if err != nil {
		return "error: " + err.Error()
	}
	content, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
