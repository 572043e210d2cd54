// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/tree"
)

const told = "spec.path of the Kustomization must be ./"

// artifact returns one with definitions, instances in namespaces and contents. An application is called kustomization.
func artifact(t *testing.T) *tree.Tree {
	t.Helper()
	object := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
	}
	return treeOf(t, map[string]string{
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- applicationdefinitions/a.yaml\n" +
			"- applicationdefinitions/kustomization.yaml\n- instances/flux-system/b.yaml\n",
		"applicationdefinitions/a.yaml":             object("a"),
		"applicationdefinitions/kustomization.yaml": object("kustomization"),
		"instances/flux-system/b.yaml":              object("b"),
		"configs/plum/catalog.json": `{"schema": "olm.package", "name": "plum", "defaultChannel": "a"}
{"schema": "olm.channel", "package": "plum", "name": "a", "entries": [{"name": "plum.v1"}]}
{"schema": "olm.bundle", "package": "plum", "name": "plum.v1", "image": "e.com/plum:v1", "properties": [{"type": "olm.package", "value": {"packageName": "plum", "version": "1.0.0"}}]}
`,
		"functions/catalog.yaml": "kind: Catalog\n",
	})
}

func treeOf(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	made := tree.New()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if err := made.Add(file, []byte(files[file])); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

func sealed(t *testing.T, files *tree.Tree) *tree.Tree {
	t.Helper()
	if err := seal.Add(files); err != nil {
		t.Fatal(err)
	}
	return files
}

func directories(files *tree.Tree) []string {
	found := map[string]bool{}
	for _, file := range files.Paths() {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			found[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// onDisk and inMemory are file systems of kustomize with the files of an artifact, and the directory with them.
func onDisk(t *testing.T, files *tree.Tree) (filesys.FileSystem, string) {
	dir := t.TempDir()
	for _, file := range files.Paths() {
		content, _ := files.Content(file)
		name := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filesys.MakeFsOnDisk(), dir
}

func inMemory(t *testing.T, files *tree.Tree) (filesys.FileSystem, string) {
	fsys := filesys.MakeFsInMemory()
	for _, file := range files.Paths() {
		content, _ := files.Content(file)
		if err := fsys.WriteFile("/artifact/"+file, content); err != nil {
			t.Fatal(err)
		}
	}
	return fsys, "/artifact"
}

func build(fsys filesys.FileSystem, dir string) (string, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, dir)
	if err != nil {
		return "", err
	}
	content, err := built.AsYaml()
	return string(content), err
}

func TestOnlyTheRootIsBuilt(t *testing.T) {
	for name, place := range map[string]func(*testing.T, *tree.Tree) (filesys.FileSystem, string){"on disk": onDisk, "in memory": inMemory} {
		t.Run(name, func(t *testing.T) {
			want, err := build(place(t, artifact(t)))
			if err != nil {
				t.Fatal(err)
			}
			fsys, root := place(t, sealed(t, artifact(t)))
			if got, err := build(fsys, root); err != nil || got != want {
				t.Errorf("the root builds %q, %v, want %q", got, err, want)
			}
			for _, dir := range directories(artifact(t)) {
				began := time.Now()
				got, err := build(fsys, path.Join(root, dir))
				if err == nil {
					t.Errorf("%s builds %q", dir, got)
				} else if dir != "applicationdefinitions" && !strings.Contains(err.Error(), told) {
					t.Errorf("%s fails with %v, want %q in it", dir, err, told)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s takes %s: kustomize asks somebody for what is missing", dir, took)
				}
			}
		})
	}
}

func TestAnApplicationCalledKustomizationKeepsItsDocument(t *testing.T) {
	const file = "applicationdefinitions/kustomization.yaml"
	want, _ := artifact(t).Content(file)
	all := sealed(t, artifact(t))
	if got, _ := all.Content(file); !bytes.Equal(got, want) {
		t.Errorf("sealed, it is %q", got)
	}
	read, err := seal.Removed(all)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := read.Content(file); !bytes.Equal(got, want) {
		t.Errorf("without seals, it is %q", got)
	}
}

func TestWithoutSealsAnArtifactIsWhatItWas(t *testing.T) {
	older, err := seal.Removed(artifact(t))
	if err != nil || older.Digest() != artifact(t).Digest() {
		t.Errorf("one of the older layout changes: %v, %v", older.Paths(), err)
	}
	read, err := seal.Removed(sealed(t, artifact(t)))
	if err != nil || read.Digest() != artifact(t).Digest() {
		t.Errorf("the files are %v, %v, want %v", read.Paths(), err, artifact(t).Paths())
	}
}

// Whoever reads configs/ as a file-based catalog, as opm does, reads the packages and nothing else.
func TestReadersOfFileBasedCatalogsIgnoreSeals(t *testing.T) {
	fsys, root := onDisk(t, sealed(t, artifact(t)))
	if !fsys.Exists(filepath.Join(root, "configs", "plum", "kustomization.yaml")) {
		t.Fatal("the directory of the package is not sealed")
	}
	loaded, err := filebased.Load(t.Context(), os.DirFS(filepath.Join(root, "configs")))
	if err != nil || len(loaded.Packages) != 1 || loaded.Packages[0].Name != "plum" || len(loaded.Packages[0].Files()) != 1 {
		t.Errorf("read are %+v, %v", loaded, err)
	}
}
