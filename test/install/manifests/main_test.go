// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

const digest = "sha256:9fd0ca523bbda8903582bb4d64f2209a8be633bb0a59870739218d1ec6ad8ac8"

func TestTheDeploymentHasTheImage(t *testing.T) {
	for _, kustomization := range []string{"../../../config/default", "../../../config/overlays/flux-system"} {
		for _, image := range []string{
			"registry.example.com/winnow-controller:v1.0.0",
			"registry.example.com:5000/a/b/winnow-controller@" + digest,
			"localhost:5000/winnow-controller:v1.0.0@" + digest,
		} {
			out := filepath.Join(t.TempDir(), "bin", "install.yaml")
			if err := run(image, kustomization, out); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			var images []string
			for _, document := range strings.Split(string(content), "\n---\n") {
				var object appsv1.Deployment
				if err := yaml.Unmarshal([]byte(document), &object); err != nil {
					t.Fatal(err)
				}
				for _, container := range object.Spec.Template.Spec.Containers {
					images = append(images, container.Image)
				}
			}
			if len(images) != 1 || images[0] != image {
				t.Errorf("%s: the images are %v, want %s", kustomization, images, image)
			}
		}
	}
}

func TestImagesThatAreRefused(t *testing.T) {
	for why, image := range map[string]string{
		"missing":                              "",
		"no registry, so that of Docker":       "winnow-controller:v1.0.0",
		"neither tag nor digest":               "registry.example.com/winnow-controller",
		"no registry, but a directory":         "library/winnow-controller:v1.0.0",
		"no name":                              "registry.example.com:v1.0.0",
		"a tag with braces, beside a digest":   "registry.example.com/winnow-controller:{image}@" + digest,
		"the placeholder":                      "winnow-controller:{image-not-set}",
		"a digest that is cut":                 "registry.example.com/winnow-controller@sha256:9fd0ca523bbd",
		"a tag that no registry takes":         "registry.example.com/winnow-controller:v1.0.0+build",
		"an address of a page":                 "https://registry.example.com/winnow-controller:v1.0.0",
		"two lines, of which one is YAML":      "registry.example.com/winnow-controller:v1\nargs: []",
		"a name with capital letters":          "registry.example.com/Winnow:v1.0.0",
		"a name with a directory that goes up": "registry.example.com/../winnow:v1.0.0",
	} {
		out := filepath.Join(t.TempDir(), "install.yaml")
		if err := run(image, "../../../config/default", out); err == nil {
			t.Errorf("%s: %q is not refused", why, image)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a file is written", why)
		}
	}
}

// A clone that names its image in config/manager has no placeholder: another image must not be claimed.
func TestAnImageThatIsSetAlready(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"kustomization.yaml": "resources: [pod.yaml]",
		"pod.yaml":           "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: other.example.com/winnow-controller:v1}]}}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := render("registry.example.com/winnow-controller:v1.0.0", dir); err == nil || !strings.Contains(err.Error(), "config/manager") {
		t.Errorf("got %v", err)
	}
}
