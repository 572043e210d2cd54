// SPDX-License-Identifier: Apache-2.0

package artifacts_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func rendered(t *testing.T) *render.Result {
	t.Helper()
	catalog, err := render.LoadArchive(t.Context(), "catalog", bytes.NewReader(sourcetest.Applications(t, "argocd")), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: catalog}}, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAnArchiveIsStoredOnce(t *testing.T) {
	a := &artifacts.Artifacts{Storage: &storage.Storage{
		BasePath: t.TempDir(), Hostname: "winnow.example", ArtifactRetentionTTL: time.Minute, ArtifactRetentionRecords: 2,
	}}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "kkp", "ns"
	if a.HasAny(cs) {
		t.Error("there are archives before the first one")
	}
	first, err := a.Store(cs, rendered(t), "v1@sha256:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	cs.Status.Artifact = first
	if a.Intact(cs) {
		t.Error("an archive is served before it is unstaged")
	}
	if err := a.Unstage(cs); err != nil {
		t.Fatal(err)
	}
	file := a.Storage.LocalPath(*first)
	if !a.Intact(cs) || !a.HasAny(cs) {
		t.Error("the stored archive is not intact")
	}
	content, err := a.Definitions(t.Context(), cs, first)
	if err != nil || len(content) != 1 || content[0].Name != "argocd" {
		t.Errorf("Definitions() = %v, %v", content, err)
	}

	// Another revision of the source with the same content keeps the archive.
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.Store(cs, rendered(t), "v2@sha256:1", nil)
	if err != nil || again.Digest != first.Digest || again.Metadata["org.opencontainers.image.revision"] != "v2@sha256:1" {
		t.Errorf("Store() = %+v, %v", again, err)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the archive was written again: %v", err)
	}

	// A damaged archive is neither intact nor a baseline, and is stored again.
	if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a.Intact(cs) {
		t.Error("a damaged archive is intact")
	}
	if _, err := a.Definitions(t.Context(), cs, first); err == nil {
		t.Error("a damaged archive is read")
	}
	_, err = a.Store(cs, rendered(t), "v2@sha256:1", nil)
	if err = errors.Join(err, a.Unstage(cs)); err != nil || !a.Intact(cs) {
		t.Errorf("the archive is not stored again: %v", err)
	}

	// An archive outside of the directory of the selection belongs to another one.
	other := cs.DeepCopy()
	other.Name = "other"
	if a.Intact(other) {
		t.Error("an archive of another selection is intact")
	}
	if err := a.RemoveAll(cs); err != nil || a.HasAny(cs) {
		t.Errorf("archives are left: %v", err)
	}
}

func TestTheOriginOfAnArtifact(t *testing.T) {
	observed := func(name, revision string) source.Observed {
		return source.Observed{
			Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "ns", Name: name}, Artifact: meta.Artifact{Revision: revision},
		}
	}
	one := []source.Observed{observed("a", "v1@sha256:0")}
	if got := artifacts.Origin(one); got != "v1@sha256:0" {
		t.Errorf("of one source: %s", got)
	}
	two := append(one, observed("b", "v2@sha256:1"))
	if got := artifacts.Origin(two); got != "OCIRepository/ns/a=v1@sha256:0,OCIRepository/ns/b=v2@sha256:1" {
		t.Errorf("of two sources: %s", got)
	}
}

// A path with characters of patterns hides no archive: one that is newer than a restored status must be found.
func TestTheDirectoryOfTheStorageHasAnyName(t *testing.T) {
	for _, name := range []string{"[ab]", "a[b", "*", `a\b`} {
		dir := filepath.Join(t.TempDir(), name)
		a := &artifacts.Artifacts{
			Client:  fake.NewClientBuilder().WithScheme(scheme(t)).Build(),
			Storage: &storage.Storage{BasePath: dir, Hostname: "winnow.example"},
		}
		cs := &v1alpha1.CatalogSelection{}
		cs.Name, cs.Namespace = "kkp", "ns"
		stored, err := a.Store(cs, rendered(t), "v1@sha256:0", nil)
		if err != nil {
			t.Fatal(err)
		}
		cs.Status.Artifact = stored
		if err := a.Unstage(cs); err != nil {
			t.Fatal(err)
		}
		cs.Status.Artifact = nil
		newer, err := a.Newer(t.Context(), cs, nil)
		if err != nil || newer == nil || !strings.HasSuffix(stored.Revision, newer.Revision) {
			t.Errorf("%s: Newer() = %v, %v, want %s", name, newer, err, stored.Revision)
		}
		if names := a.Stored(); !slices.Equal(names, []types.NamespacedName{{Namespace: "ns", Name: "kkp"}}) {
			t.Errorf("%s: Stored() = %v", name, names)
		}
	}
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := sourcev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}
