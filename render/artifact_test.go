// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

func packed(t *testing.T, files ...string) *bytes.Buffer {
	t.Helper()
	content := tree.New()
	for i := 0; i < len(files); i += 2 {
		if err := content.Add(files[i], []byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := archive.Write(&out, content); err != nil {
		t.Fatal(err)
	}
	return &out
}

const artifactDefinition = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: argocd}\n" +
	"spec: {versions: [{version: 1.0.0}, {version: 2.0.0}]}\n"

// TestAnArtifactIsReadAsItWasRendered also where patches change what there is.
func TestAnArtifactIsReadAsItWasRendered(t *testing.T) {
	for name, patches := range map[string][]kustomize.Patch{
		"without patches": nil,
		"with a patch":    {{Patch: "- {op: remove, path: /spec/versions/0}\n", Target: &kustomize.Selector{Name: "argocd"}}},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := render.LoadArchive(t.Context(), "catalog", packed(t, "applications/argocd/application.yaml", artifactDefinition), render.CatalogLocation{})
			if err != nil {
				t.Fatal(err)
			}
			cs := &v1alpha1.CatalogSelection{}
			cs.Name, cs.Namespace, cs.Spec.Patches = "kkp", "apps", patches
			cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
			opts, err := render.FromSpec(cs)
			if err != nil {
				t.Fatal(err)
			}
			result, err := render.Render(t.Context(), []selection.Source{{Catalog: loaded}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := readBack(t, result); !reflect.DeepEqual(got, result.Definitions) {
				t.Errorf("ReadArtifact() = %+v, want %+v", got, result.Definitions)
			}
		})
	}
}

// readBack returns the definitions of the archive of a result.
func readBack(t *testing.T, result *render.Result) []safeguard.Definition {
	t.Helper()
	var written bytes.Buffer
	if err := result.WriteArchive(&written); err != nil {
		t.Fatal(err)
	}
	read, err := render.ReadArtifact(t.Context(), &written)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestAnArtifactFetchesNothing: kustomize would.
func TestAnArtifactFetchesNothing(t *testing.T) {
	fetched := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched++ }))
	defer server.Close()
	patch := "patches: [{patch: '[{op: remove, path: /spec/versions/0}]', target: {name: argocd}}]\n"
	for name, kustomization := range map[string]string{
		"resources":     patch + "resources: [" + server.URL + "/x]\n",
		"components":    patch + "components: [" + server.URL + "/x]\n",
		"a patch":       "patches: [{path: " + server.URL + "/x, target: {name: argocd}}]\n",
		"a generator":   patch + "generators: [" + server.URL + "/x]\n",
		"a transformer": patch + "transformers: [" + server.URL + "/x]\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, _ = render.ReadArtifact(t.Context(), packed(t, "applicationdefinitions/argocd.yaml", artifactDefinition, "kustomization.yaml", kustomization))
			if fetched > 0 {
				t.Errorf("%d requests were made", fetched)
			}
		})
	}
}

// TestAnArtifactThatExpandsIsRefused: 338 bytes of archive became 3 GB.
func TestAnArtifactThatExpandsIsRefused(t *testing.T) {
	bomb := artifactDefinition + "x: &x [" + strings.Repeat("a,", 1000) + "a]\ny: [" + strings.Repeat("*x,", 1000) + "*x]\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := render.ReadArtifact(t.Context(), packed(t, "applicationdefinitions/argocd.yaml", bomb, "kustomization.yaml", "resources: []\n"))
	runtime.ReadMemStats(&after)
	if err == nil || after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("ReadArtifact() = %v, after %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}
