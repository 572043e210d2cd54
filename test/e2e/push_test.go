// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/registry/remote"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/test/stack"
)

// Two users push one catalog on different days: the digest is the same, and source-controller, the
// controller and ORAS accept the artifact.
func TestPushedCatalogIsWhatOthersPull(t *testing.T) {
	catalog := filepath.Join(system.root, "examples/catalog")
	name := system.RegistryHost() + "/pushed"
	first := winnow(t, "push", "--plain-http", catalogCopy(t, catalog, false), "oci://"+name+":v1", "--tag", "latest")
	reference := winnow(t, "push", "--plain-http", catalogCopy(t, catalog, true), "oci://"+name+":v2")
	if first != reference {
		t.Fatalf("pushed %s, and then %s", first, reference)
	}
	digest := strings.TrimPrefix(reference, "oci://"+name+"@")

	t.Run("Flux and the controller", func(t *testing.T) { pullByFlux(t, catalog, digest) })
	t.Run("ORAS", func(t *testing.T) { pullByORAS(t, catalog, name) })
	t.Run("winnow pull", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "pulled")
		if got := winnow(t, "pull", "--plain-http", reference, "-o", dir); got != reference {
			t.Errorf("pulled %s, want %s", got, reference)
		}
		comparePublished(t, os.DirFS(dir), catalog)
	})
}

// pullByFlux checks that a selection by a named list publishes the same from the push of the test
// helper and from that of the command line.
func pullByFlux(t *testing.T, catalog, digest string) {
	if _, err := system.PushCatalog(t.Context(), catalog, "pushed-otherwise:v1", stack.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, name: "pushed"}
	s.selection = &v1alpha1.CatalogSelection{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.name},
		Spec: v1alpha1.CatalogSelectionSpec{
			Interval: metav1.Duration{Duration: time.Hour},
			Sources:  []v1alpha1.SourceReference{{Name: s.name}},
			Limit:    &v1alpha1.Limit{CatalogRefs: []string{"security"}},
		},
	}
	repository := s.repository()
	repository.Spec.URL += "-otherwise"
	s.create(namespace(s.name))
	s.create(repository)
	s.create(s.selection)
	t.Cleanup(func() { s.remove(s.selection, repository) })
	want := s.awaitSelection("published", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || cs.Status.Summary.Selected == 0 {
			return fmt.Errorf("not ready")
		}
		return nil
	})
	for _, operation := range []string{sourcev1.OCILayerExtract, sourcev1.OCILayerCopy} {
		t.Run(operation, func(t *testing.T) {
			s := &scenario{t: t, name: s.name, selection: s.selection}
			s.update(repository, func() {
				repository.Spec.URL = strings.TrimSuffix(repository.Spec.URL, "-otherwise")
				repository.Spec.Reference.Tag = "v2"
				repository.Spec.LayerSelector.Operation = operation
			})
			s.await("pulled", func(ctx context.Context) error {
				err := system.Client().Get(ctx, client.ObjectKeyFromObject(repository), repository)
				if err == nil && (repository.Status.ObservedGeneration != repository.Generation || !conditions.IsReady(repository)) {
					err = fmt.Errorf("OCIRepository: %+v", repository.Status.Conditions)
				}
				return err
			})
			got := s.awaitSelection("published", func(cs *v1alpha1.CatalogSelection) error {
				if !conditions.IsReady(cs) || cs.Status.Sources[0].Revision != "v2@"+digest ||
					cs.Status.Sources[0].Digest != repository.Status.Artifact.Digest {
					return fmt.Errorf("sources are %+v, want v2@%s", cs.Status.Sources, digest)
				}
				return nil
			})
			if got.Status.Artifact.Revision != want.Status.Artifact.Revision {
				t.Errorf("published %s, want %s", got.Status.Artifact.Revision, want.Status.Artifact.Revision)
			}
		})
	}
}

// pullByORAS writes the layer to the file that its title names, as oras pull does.
func pullByORAS(t *testing.T, catalog, name string) {
	repository, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	dir := t.TempDir()
	store, err := file.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := oras.Copy(t.Context(), repository, "latest", store, "", oras.DefaultCopyOptions); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "applications"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := archive.Read(t.Context(), bytes.NewReader(content), archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	comparePublished(t, files.FS(), catalog)
}

// winnow runs the command line and returns the line on stdout.
func winnow(t *testing.T, args ...string) string {
	t.Helper()
	var messages bytes.Buffer
	cmd := exec.CommandContext(t.Context(), system.winnow, args...)
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("winnow %s: %v\n%s", strings.Join(args, " "), err, &messages)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// catalogCopy copies a directory. differently changes the permissions and the times, and creates the
// files in reverse order.
func catalogCopy(t *testing.T, from string, differently bool) string {
	t.Helper()
	dir := t.TempDir()
	paths := filesIn(t, os.DirFS(from))
	if differently {
		slices.Reverse(paths)
	}
	for _, path := range paths {
		content, err := os.ReadFile(filepath.Join(from, path))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, path), string(content))
		if differently {
			disguise(t, filepath.Join(dir, path))
		}
	}
	return dir
}

func disguise(t *testing.T, path string) {
	t.Helper()
	year := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
	err := os.Chmod(path, 0o700)
	if err == nil {
		err = os.Chtimes(path, year, year)
	}
	if err == nil && os.Getuid() == 0 {
		err = os.Chown(path, 1234, 1234)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// comparePublished compares the files with the published files of a catalog.
func comparePublished(t *testing.T, got fs.FS, catalog string) {
	t.Helper()
	want := os.DirFS(catalog)
	published := slices.DeleteFunc(filesIn(t, want), func(path string) bool { return !strings.Contains(path, "/") })
	if paths := filesIn(t, got); !slices.Equal(paths, published) {
		t.Fatalf("files are %q, want %q", paths, published)
	}
	for _, path := range published {
		a, err := fs.ReadFile(got, path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := fs.ReadFile(want, path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is\n%s\nwant\n%s", path, a, b)
		}
	}
}

func filesIn(t *testing.T, files fs.FS) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
