// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/selection"
)

// orchard renders the packages of a catalog with a spec.
func orchard(t *testing.T, change func(*v1alpha1.CatalogSelectionSpec)) (*render.Result, error) {
	t.Helper()
	loaded, err := render.LoadFS(t.Context(), "operators", os.DirFS("catalog/filebased/testdata/orchard"), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "operators", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "operators"}}
	change(&cs.Spec)
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	return render.Render(t.Context(), []selection.Source{{Name: "operators", Catalog: loaded}}, opts)
}

func TestAnArtifactHasThePackages(t *testing.T) {
	result, err := orchard(t, func(s *v1alpha1.CatalogSelectionSpec) {
		s.Versions = []v1alpha1.VersionRule{{Names: []string{"lemon"}, Latest: 1}}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"configs/.indexignore", "configs/kustomization.yaml", "configs/lemon/catalog.yaml", "configs/lemon/kustomization.yaml",
		"configs/plum/catalog.json", "configs/plum/kustomization.yaml", render.KustomizationFile,
	}
	if got := result.Tree.Paths(); !slices.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
	original, err := os.ReadFile("catalog/filebased/testdata/orchard/lemon/catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	content, _ := result.Tree.Content("configs/lemon/catalog.yaml")
	for document := range strings.SplitSeq(string(content), "---\n") {
		whole := strings.Contains(document, "\nschema: olm.bundle") || strings.HasPrefix(document, "schema: olm.bundle")
		if whole && !bytes.Contains(original, []byte(document)) {
			t.Errorf("the bytes differ:\n%s", document)
		}
	}
	if built, err := kustomized.YAML(result.Tree); err != nil || len(built) > 0 {
		t.Errorf("kustomize builds %q: %v", built, err)
	}
	if len(result.Definitions) > 0 || len(result.Live()) > 0 || len(result.Contents) != 2 {
		t.Errorf("%d definitions, %d live objects, %d contents", len(result.Definitions), len(result.Live()), len(result.Contents))
	}
}

func TestAnArtifactOfPackagesIsReadBack(t *testing.T) {
	result, err := orchard(t, func(s *v1alpha1.CatalogSelectionSpec) {
		s.Versions = []v1alpha1.VersionRule{{Constraint: ">=1.1.0"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	read := readBack(t, result)
	for i, d := range result.Compared() {
		written, writeErr := d.Package.MarshalJSON()
		again, readErr := read[i].Package.MarshalJSON()
		d.Source, d.Package, read[i].Package = "", nil, nil
		if !reflect.DeepEqual(read[i], d) || string(written) != string(again) || writeErr != nil || readErr != nil {
			t.Errorf("%v is read as %v, %s as %s", d, read[i], written, again)
		}
	}
	again, err := catalog.FileBased{Named: true}.Load(t.Context(), os.DirFS("catalog/filebased/testdata/orchard"))
	if err != nil || len(again.Applications) != len(read) {
		t.Errorf("read are %d packages: %v", len(read), err)
	}
}

func TestPackagesNeedNoObject(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha1.CatalogSelectionSpec)
		want   string
	}{
		"omitted":         {func(s *v1alpha1.CatalogSelectionSpec) { s.Definitions = v1alpha1.DefinitionsOmit }, "EmptyResult"},
		"every mirror":    {func(s *v1alpha1.CatalogSelectionSpec) { s.RequireMirrors = true }, "spec.requireMirrors: application lemon: mirrors do not rewrite"},
		"a refused prune": {func(s *v1alpha1.CatalogSelectionSpec) { s.Versions = []v1alpha1.VersionRule{{DefaultChannel: "x"}} }, "spec.versions: application lemon: "},
		"all refused":     {func(s *v1alpha1.CatalogSelectionSpec) { s.Versions = []v1alpha1.VersionRule{{DefaultChannel: "x"}} }, "application plum: "},
		"ignored patches": {func(s *v1alpha1.CatalogSelectionSpec) {
			s.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"a": "b"}}
		}, ""},
		"values of a name": {func(s *v1alpha1.CatalogSelectionSpec) { s.OmitFields = []string{"default"} }, ""},
	} {
		_, err := orchard(t, test.change)
		got := ""
		if refused, ok := errors.AsType[*render.Error](err); ok {
			got = refused.Reason() + " " + refused.Error()
		}
		if !strings.Contains(got, test.want) || test.want == "" && err != nil {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
