// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/clitest"
)

// A catalog and a definition are layers of an artifact that ORAS has pushed, with the media types of the KEP.
func TestFunctionsInTheLayersOfTheProposal(t *testing.T) {
	server := httptest.NewServer(clitest.EmptyRegistry())
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://") + "/functions"
	repository, err := remote.NewRepository(address)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	definition := "apiVersion: config.kubernetes.io/v1alpha1\nkind: KRMFunctionDefinition\nspec:\n  group: e.com\n  names: {kind: Salt}\n  versions: [{name: v1}]\n  runtime: {container: {image: salt}}\n"
	var layers []v1.Descriptor
	for _, layer := range []struct{ mediaType, text string }{
		{"text/markdown", "# functions"},
		{contract.FunctionCatalogMediaType, oneFunction("e.com", "Logger", imageOf("logger:v1"))},
		{contract.FunctionDefinitionMediaType, definition},
	} {
		described := content.NewDescriptorFromBytes(layer.mediaType, []byte(layer.text))
		if err := repository.Push(t.Context(), described, bytes.NewReader([]byte(layer.text))); err != nil {
			t.Fatal(err)
		}
		layers = append(layers, described)
	}
	manifest, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "application/vnd.example", oras.PackManifestOptions{Layers: layers})
	if err == nil {
		err = repository.Tag(t.Context(), manifest, "v1")
	}
	if err != nil {
		t.Fatal(err)
	}
	got := clitest.Execute(t.Context(), "functions", "view", "--plain-http", "oci://"+address+":v1")
	if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "Logger.e.com  v1 ") || !strings.Contains(got.Stdout, "Salt.e.com    v1 ") ||
		!strings.Contains(got.Stderr, "oci://"+address+":v1/layer-002.yaml:4: ") {
		t.Errorf("%d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}
