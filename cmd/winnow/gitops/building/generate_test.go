// SPDX-License-Identifier: Apache-2.0

package building

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	flux "github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// TestKustomizationFilesAreThoseOfFlux compares with the generator of fluxcd/pkg/kustomize, which the command line does
// not import.
func TestKustomizationFilesAreThoseOfFlux(t *testing.T) {
	const object, broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "apiVersion: v1\nkind: [\n"
	tree := readTree(t, map[string]string{
		"plain/b.yaml": object, "plain/a.yml": object, "plain/a/c.yaml": object, "plain/a-b.yaml": object, "plain/text.md": "no object",
		"plain/a/deep/kustomization.yml": "resources: [d.yaml]\n", "plain/a/deep/d.yaml": object, "plain/z.yaml/e.yaml": object,
		"plain/KUSTOMIZATION/Kustomization": "resources: []\n",
		"plain/clusters/berlin.pub":         "a key of receipts",
		"none/text.md":                      "no object",
		"broken/a/x.yaml":                   broken,
		"nameless/x.yaml":                   "apiVersion: v1\nkind: ConfigMap\n",
		"given/kustomization.yaml": "resources: [a.yaml]\nnamespace: own\nnamePrefix: own-\nnameSuffix: -own\n" +
			"images: [{name: one, newTag: v1}, {name: two, digest: 'sha256:ab', newName: zwei}, {name: three, newTag: v3}]\n" +
			"patches: [{path: p.yaml}]\ncomponents: [c]\nbuildMetadata: [managedByLabel]\n",
		"given/a.yaml": object, "given/p.yaml": object, "given/c/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n",
		"empty/kustomization.yaml": "namespace: own\n", "empty/a.yaml": object, "empty/c/kustomization.yaml": "kind: Component\n",
		"invalid/kustomization.yaml": "resources: {}\n",
	})
	specs := []string{
		"{}",
		"{targetNamespace: other, namePrefix: p-, nameSuffix: -s}",
		"{components: [c]}",
		"{components: [c, missing], ignoreMissingComponents: true}",
		"{components: ['https://example.com/c']}",
		"{components: ['GitHub.com/org/c']}",
		"{components: [/c]}",
		"{components: ['file:///c']}",
		"{patches: [{patch: '[{op: remove, path: /data}]', target: {group: g, version: v1, kind: K, name: x, namespace: ns, " +
			"labelSelector: a=b, annotationSelector: c=d}}, {patch: 'kind: ConfigMap'}]}",
		"{images: [{name: one, newName: eins}, {name: two, newTag: v2}, {name: three, digest: 'sha256:cd'}, {name: four, newTag: v4}, {name: four, newName: vier}]}",
	}
	for _, dir := range []string{"plain", "plain/a", "none", "broken", "nameless", "given", "empty", "invalid", "."} {
		for _, spec := range specs {
			k := kustomization(t, spec)
			got, gotErr := generateKustomization(inputs.NewClosure(tree, dir, k.Components(tree, dir)), dir, k)
			file, want, wantErr := fluxKustomization(t, tree, dir, k)
			if gotErr != nil || wantErr != nil {
				if gotErr == nil || wantErr == nil || gotErr.Error() != wantErr.Error() {
					t.Errorf("%s with %s ends with\n%v\nwant\n%v", dir, spec, gotErr, wantErr)
				}
				continue
			}
			if len(got) != 1 || string(got[file]) != want || strings.Contains(want, "clusters") {
				t.Errorf("%s with %s is\n%s\nwant %s:\n%s", dir, spec, got, file, want)
			}
		}
	}
}

// fluxKustomization returns the kustomization file that Flux generates in a copy of the tree, with the option that
// annotates objects with their files.
func fluxKustomization(t *testing.T, tree *repository.Tree, dir string, k *manifest.Kustomization) (file, content string, err error) {
	t.Helper()
	root := t.TempDir()
	for name := range tree.Files {
		content, err := tree.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, name), string(content))
	}
	object := k.Object.DeepCopy()
	if err := unstructured.SetNestedStringSlice(object.Object, []string{"originAnnotations"}, "spec", "buildMetadata"); err != nil {
		t.Fatal(err)
	}
	at := root + "/" + dir
	generated, file, _, err := flux.NewGenerator(root, *object).GenerateManifest(at)
	if err != nil {
		message := strings.ReplaceAll(err.Error(), filepath.Clean(at), dir)
		return "", "", errors.New(message)
	}
	return path.Join(dir, filepath.Base(file)), string(generated), nil
}

func kustomization(t *testing.T, spec string) *manifest.Kustomization {
	t.Helper()
	object := &unstructured.Unstructured{}
	text := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: " + spec + "\n"
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	k, err := manifest.NewKustomization(object)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// readTree returns the tree of a commit with these files, in the working directory of the test.
func readTree(t *testing.T, files map[string]string) *repository.Tree {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		write(t, name, content)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "files"}} {
		args = append([]string{"-c", "user.name=author", "-c", "user.email=author@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	objects, err := repository.Git{}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(objects.Close)
	tree, err := repository.Git{}.Tree(t.Context(), "HEAD", objects)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
