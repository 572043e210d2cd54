// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestImageHasToBeSet: a container runtime refuses the name by default, and pulls nothing. One entry in a kustomization
// that uses the installation sets it.
func TestImageHasToBeSet(t *testing.T) {
	for dir := range installations {
		t.Run(dir, func(t *testing.T) {
			resources := build(t, dir)
			image := deployment(t, resources).Spec.Template.Spec.Containers[0].Image
			if ref, err := name.ParseReference(image); err == nil {
				t.Errorf("a node would pull %s", ref)
			}
			installation, err := resources.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			files := filesys.MakeFsInMemory()
			for path, content := range map[string]string{
				"base/installation.yaml":     string(installation),
				"base/kustomization.yaml":    "resources: [installation.yaml]",
				"overlay/kustomization.yaml": "resources: [../base]\nimages: [{name: winnow-controller, newName: registry.example.com/winnow, newTag: v1.2.3}]",
			} {
				if err := files.WriteFile(path, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			resources, err = krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "overlay")
			if err != nil {
				t.Fatal(err)
			}
			if got := deployment(t, resources).Spec.Template.Spec.Containers[0].Image; got != "registry.example.com/winnow:v1.2.3" {
				t.Errorf("with an overlay, the image is %s", got)
			}
		})
	}
}
