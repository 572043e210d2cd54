// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/images"
)

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name, manifest string
		want           []string
	}{
		{"containers of a pod, in full", `
kind: Pod
metadata: {namespace: a, name: b}
spec:
  initContainers: [{image: redis}]
  containers: [{image: "quay.io/x/y:v1"}, {image: "z/y@sha256:00"}]
  volumes: [{image: {reference: "r.example/data:1", pullPolicy: Always}}]
`, []string{
			"docker.io/library/redis at Pod a/b .spec.initContainers[0].image",
			"quay.io/x/y:v1 at Pod a/b .spec.containers[0].image",
			"docker.io/z/y@sha256:00 at Pod a/b .spec.containers[1].image",
			"r.example/data:1 at Pod a/b .spec.volumes[0].image.reference",
		}},
		{"a custom resource, in parts", "kind: Database\nmetadata: {name: a}\nspec: {image: {registry: r.example, repository: x/y, tag: v1}}\n",
			[]string{"r.example/x/y:v1 at Database a .spec.image"}},
		{"arguments and variables", "spec:\n  args: [--reloader=quay.io/x/y:v1, --log=debug]\n  env: [{name: RELATED_IMAGE_A, value: 'quay.io/x/z@sha256:00'}, {name: B, value: redis:7}]\n",
			[]string{"quay.io/x/y:v1 in .spec.args[0]", "quay.io/x/z@sha256:00 in .spec.env[0].value"}},
		{"a file in a ConfigMap", "kind: ConfigMap\ndata:\n  pod.yaml: |\n    spec:\n      containers:\n      - image: \"quay.io/x/y:v1\"  # comment\n      - image: busybox\n",
			[]string{"quay.io/x/y:v1 in ConfigMap .data.pod.yaml"}},
		{"a variable with a line for each image", "env:\n- name: IMAGES\n  value: |\n    1.0=quay.io/x/y:v1\n    2.0=quay.io/x/y:v2\n",
			[]string{"quay.io/x/y:v1 in .env[0].value", "quay.io/x/y:v2 in .env[0].value"}},
		{"what is no image", "a: https://example.com/x:1\nb: example.com/x\nc: a text, with example.com/x:1 in it\nimage: {{ x }}\nd: [image, 'image:']\n", nil},
		{"examples in a definition", "kind: CustomResourceDefinition\nspec: {image: redis}\n", nil},
		{"several documents, one of them empty", "image: a:1\n---\n# nothing\n---\nimage: b:1\n",
			[]string{"docker.io/library/a:1 at .image", "docker.io/library/b:1 at .image"}},
		{"an alias and a merge key", "a: &a {image: a:1}\nb: *a\nc: {<<: *a}\n",
			[]string{"docker.io/library/a:1 at .a.image", "docker.io/library/a:1 at .b.image", "docker.io/library/a:1 at .c.image"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := images.Find(test.manifest)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range found {
				where := "at"
				if i.InText {
					where = "in"
				}
				got = append(got, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", i.Address, where, i.Object, i.Path)), " "))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("Find() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestHostileManifestsAreNotSearched(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for name, manifest := range map[string]string{
		"aliases": bomb, "levels": strings.Repeat("[", 200) + strings.Repeat("]", 200), "values": strings.Repeat("-\n", 2_000_000), "no YAML": "a: [",
		"a mapping that merges itself": "&a\n<<: *a\nb: c\n",
	} {
		if found, err := images.Find("image: a\n---\n" + manifest); err == nil || len(found) > 1 {
			t.Errorf("%s: Find() = %v, %v", name, found, err)
		}
	}
}

// The path of a value is not written out for each: with a long key, that took gigabytes and hours.
func TestALongKeyIsNoWork(t *testing.T) {
	manifest := "image: redis\n? " + strings.Repeat("a", 900_000) + "\n: [" + strings.Repeat(`"",`, 300_000) + "]\n"
	if found, err := images.Find(manifest); err != nil || len(found) != 1 {
		t.Errorf("Find() = %d images, %v", len(found), err)
	}
}

func TestADefinitionOfAnyDepthHasNoImages(t *testing.T) {
	manifest := "kind: CustomResourceDefinition\nspec: " + strings.Repeat("[", 200) + strings.Repeat("]", 200)
	if found, err := images.Find(manifest); err != nil || len(found) > 0 {
		t.Errorf("Find() = %v, %v", found, err)
	}
}

// Whatever a manifest has, searching it ends, and an image that is found is a reference.
func FuzzFind(f *testing.F) {
	for _, manifest := range []string{
		"image: redis", "spec: {containers: [{image: 'quay.io/x/y:v1'}]}", "a: &a {image: {repository: a, tag: b}}\nb: *a",
		"data:\n  a: |\n    image: quay.io/x/y:v1\n    b=quay.io/x/z:v1\n", "a: &a [*a]", "--- &a\n<<: *a\n", "---\n---\n", "[",
	} {
		f.Add(manifest)
	}
	f.Fuzz(func(t *testing.T, manifest string) {
		found, _ := images.Find(manifest)
		for _, image := range found {
			if image.Address == "" || strings.ContainsAny(image.Address, " \n\t") {
				t.Errorf("found is %q", image.Address)
			}
		}
	})
}
