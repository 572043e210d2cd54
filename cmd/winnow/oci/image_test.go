// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
)

func TestImagesWithoutAHostAreOfDockerHub(t *testing.T) {
	for image, want := range map[string]string{
		"alpine:3":                       "docker.io/library/alpine:3",
		"org/image":                      "docker.io/org/image",
		"example/module_providers/a:v1":  "docker.io/example/module_providers/a:v1",
		"docker.io/alpine":               "docker.io/library/alpine",
		"localhost/a:v1":                 "localhost/a:v1",
		"registry:5000/a":                "registry:5000/a",
		"registry.example.com/a/b:v1.2.": "registry.example.com/a/b:v1.2.",
	} {
		got, err := oci.ParseImage(image)
		if err != nil || got.String() != want {
			t.Errorf("%s: %s, %v", image, got, err)
		}
	}
	for _, image := range []string{"registry.example.com/A B", "me:secret@registry.example.com/a"} {
		if got, err := oci.ParseImage(image); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("it is %s, %v", got, err)
		}
	}
}
