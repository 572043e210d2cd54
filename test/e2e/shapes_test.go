// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	godigest "github.com/opencontainers/go-digest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestEveryShapeOfManifestGivesTheSameArtifact(t *testing.T) {
	s := newScenario(t, "shapes", catalogOf("shapes"), nil)
	s.awaitApplied("shapes-a", "shapes-b", "shapes-c")
	want, _, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, a := range catalogOf("shapes") {
		writeApp(t, filepath.Join(dir, "applications", a.name), a)
	}
	for _, shape := range []struct {
		name      string
		shape     stack.Shape
		mediaType string
	}{
		{"contract", stack.Contract, stack.CatalogLayerMediaType},
		{"flux", stack.FluxArtifact, stack.FluxLayerMediaType},
	} {
		for _, operation := range []string{sourcev1.OCILayerExtract, sourcev1.OCILayerCopy} {
			t.Run(shape.name+" "+operation, func(t *testing.T) {
				name := "shapes-" + shape.name + "-" + operation
				ref := name + ":v1"
				if _, err := system.PushCatalog(t.Context(), dir, ref, stack.PushOptions{Shape: shape.shape}); err != nil {
					t.Fatal(err)
				}
				repository := s.repository()
				repository.Name = name
				repository.Spec.URL = fmt.Sprintf("oci://%s/%s", system.RegistryHost(), name)
				repository.Spec.LayerSelector = &sourcev1.OCILayerSelector{MediaType: shape.mediaType, Operation: operation}
				s.create(repository)
				cs := s.selection.DeepCopy()
				cs.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: s.name}
				cs.Spec.Sources[0].Name = name
				s.create(cs)
				t.Cleanup(func() { s.remove(cs, repository) })
				got := (&scenario{t: t, name: s.name, selection: cs}).awaitSelection("published", func(cs *v1alpha1.CatalogSelection) error {
					if !conditions.IsReady(cs) {
						return fmt.Errorf("not ready")
					}
					return nil
				})
				// The labels name the selection, so the revisions differ; the applications do not.
				if fmt.Sprint(got.Status.Summary) != fmt.Sprint(want.Status.Summary) {
					t.Errorf("summary is %v, want %v", got.Status.Summary, want.Status.Summary)
				}
				s.assertSameRender(got, dir)
			})
		}
	}
}

// assertSameRender checks that the command line renders the served archive of cs from the catalog
// in dir.
func (s *scenario) assertSameRender(cs *v1alpha1.CatalogSelection, sources ...string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "selection.yaml")
	cs.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind))
	write(s.t, file, manifest(s.t, cs))
	archive := filepath.Join(s.t.TempDir(), "artifact.tar.gz")
	args := []string{"render", "-f", file, "--archive", archive, "--plain-http"}
	for _, source := range sources {
		args = append(args, "--source", source)
	}
	out, err := exec.CommandContext(s.t.Context(), system.winnow, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("winnow render: %v\n%s", err, out)
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := godigest.FromBytes(content).String(); got != cs.Status.Artifact.Digest {
		s.t.Errorf("winnow render gives %s, the cluster serves %s\n%s", got, cs.Status.Artifact.Digest, out)
	}
	if _, sum, _ := strings.Cut(cs.Status.Artifact.Revision, "@"); !strings.Contains(string(out), sum) {
		s.t.Errorf("winnow render does not say %s:\n%s", sum, out)
	}
}

func TestExampleGitOpsRepositoryWorksAsIs(t *testing.T) {
	catalog := filepath.Join(system.root, "examples/catalog")
	if _, err := system.PushCatalog(t.Context(), catalog, "catalogs/winnow-example:v1.0.0", stack.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	gitops := localGitOps(t, "examples/gitops")
	if err := system.ApplyKustomization(t.Context(), gitops); err != nil {
		t.Fatal(err)
	}
	key := metav1.ObjectMeta{Name: "applications", Namespace: stack.FluxNamespace}
	cs := &v1alpha1.CatalogSelection{ObjectMeta: key}
	ks := &kustomizev1.Kustomization{ObjectMeta: key}
	repository := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: "winnow-example", Namespace: stack.FluxNamespace}}
	s := &scenario{t: t, selection: cs}
	t.Cleanup(func() { s.remove(ks, cs, repository) })
	s.await("applied", func(ctx context.Context) error {
		for _, o := range []client.Object{cs, ks} {
			if err := system.Client().Get(ctx, keyOf(o), o); err != nil {
				return err
			}
		}
		if !conditions.IsReady(cs) || !conditions.IsReady(ks) || ks.Status.LastAppliedRevision != cs.Status.Artifact.Revision {
			return fmt.Errorf("selection %+v, Kustomization %+v", cs.Status.Conditions, ks.Status.Conditions)
		}
		return nil
	})
	if ks.Status.LastAppliedOriginRevision == "" || ks.Status.LastAppliedOriginRevision != cs.Status.Sources[0].Revision {
		t.Errorf("origin revision is %q, want %q", ks.Status.LastAppliedOriginRevision, cs.Status.Sources[0].Revision)
	}
	if n := len(ks.Status.Inventory.Entries); n != int(cs.Status.Summary.Selected) || n == 0 {
		t.Errorf("applied %d objects of %d", n, cs.Status.Summary.Selected)
	}
	s.assertSameRender(cs, catalog)
}

// localGitOps copies the files of an example with the address of the local registry.
func localGitOps(t *testing.T, example string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(system.root, example))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "catalog.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	local := "url: oci://" + system.RegistryHost()
	patched := strings.Replace(string(content), "url: oci://registry.example.com", "insecure: true\n  "+local, 1)
	if patched == string(content) {
		t.Fatal("the example names no registry")
	}
	write(t, file, patched)
	return dir
}

func manifest(t *testing.T, object client.Object) string {
	t.Helper()
	content, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
