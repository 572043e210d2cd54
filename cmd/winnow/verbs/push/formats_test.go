// SPDX-License-Identifier: Apache-2.0

package push_test

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/memory"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/clitest"
)

// What is pushed of each format is one archive to whoever pulls the artifact, as source-controller does: a selection of it
// renders the same as one of the directory.
func TestPushedFormatsAreOneArchive(t *testing.T) {
	server := httptest.NewServer(clitest.EmptyRegistry())
	t.Cleanup(server.Close)
	for format, test := range map[string]struct{ dir, mediaType, limit string }{
		v1alpha1.FormatApplications: {"../../../../examples/catalog", contract.LayerMediaType, "{catalogRefs: [default]}"},
		v1alpha1.FormatDefinitions:  {"../../../../examples/cozystack/packages", contract.FluxLayerMediaType, "{metadataSelector: {tierRefs: [gold]}}"},
		v1alpha1.FormatKRMFunctions: {"../../../../examples/functions", contract.FluxLayerMediaType, `{expression: 'app.publisher == "Example Co"'}`},
		v1alpha1.FormatFileBased:    {"../../../../examples/operators/catalog", contract.FluxLayerMediaType, "{expression: 'true'}"},
	} {
		t.Run(format, func(t *testing.T) {
			dir, name := t.TempDir(), strings.TrimPrefix(server.URL, "http://")+"/push"
			selection := filepath.Join(dir, "selection.yaml")
			clitest.WriteFile(t, selection, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: a, namespace: a}\nspec:\n"+
				"  sources: [{name: a, include: [applications/**, catalogs/**, 'system/*-rd/cozyrds/*.yaml', 'catalog.yaml', '*/catalog.yaml']}]\n  limit: "+test.limit+"\n")
			args := []string{"push", "--plain-http", test.dir, "oci://" + name + ":" + strings.ToLower(format), "--as", "catalog"}
			switch format {
			case v1alpha1.FormatDefinitions:
				args = append(args, "--include", "system/*-rd/cozyrds/*.yaml")
			case v1alpha1.FormatKRMFunctions:
				args = append(args, "--include", "catalog.yaml")
			}
			if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitOK {
				t.Fatal(got.Stderr)
			}
			archive := filepath.Join(dir, "layer.tar.gz")
			clitest.WriteFile(t, archive, string(pullLayer(t, name, strings.ToLower(format), test.mediaType)))
			render := func(source string) clitest.Execution {
				return clitest.Execute(t.Context(), "render", "-f", selection, "--source", source)
			}
			pulled, of := render(archive), render(test.dir)
			if pulled.Code != root.ExitOK || pulled.Stdout == "" || pulled.Stdout != of.Stdout {
				t.Errorf("%d %s\n%s\nwant\n%s%s", pulled.Code, pulled.Stderr, pulled.Stdout, of.Stderr, of.Stdout)
			}
		})
	}
}

// pullLayer pulls an artifact using the library of ORAS, and returns its only layer.
func pullLayer(t *testing.T, name, tag, mediaType string) []byte {
	t.Helper()
	repository, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	store := memory.New()
	pulled, err := oras.Copy(t.Context(), repository, tag, store, "", oras.DefaultCopyOptions)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := content.FetchAll(t.Context(), store, pulled)
	if err != nil {
		t.Fatal(err)
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != mediaType {
		t.Fatalf("the manifest is %s: %v", raw, err)
	}
	layer, err := content.FetchAll(t.Context(), store, manifest.Layers[0])
	if err != nil {
		t.Fatal(err)
	}
	return layer
}
