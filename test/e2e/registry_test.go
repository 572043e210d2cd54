// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/stack"
)

// The manifest determines the catalog, whatever source-controller extracts.
func TestTheManifestDecides(t *testing.T) {
	catalog := packed(t, catalogOf("decides"))
	sbom := packed(t, []app{{name: "decides-sbom", tier: "gold", versions: []string{"1.0.0"}}})
	layer := func(mediaType, title string, content []byte) registry.Blob {
		blob := registry.NewBlob(mediaType, content)
		blob.Descriptor.Annotations = map[string]string{v1.AnnotationTitle: title}
		return blob
	}
	good := layer(contract.LayerMediaType, contract.LayerTitle, catalog)
	bill := layer(contract.LayerMediaType, "sbom", sbom)
	readme := layer("text/markdown", "README.md", []byte("# Read me\n"))
	copyFirst := &sourcev1.OCILayerSelector{Operation: sourcev1.OCILayerCopy}

	s := newScenario(t, "decides", catalogOf("decides"), nil)
	s.awaitApplied("decides-a", "decides-b", "decides-c")
	for _, test := range []struct {
		name         string
		artifactType string
		layers       []registry.Blob
		selector     *sourcev1.OCILayerSelector
		index        bool
		violated     string
	}{
		{name: "flux-extracts-the-sbom", artifactType: contract.ArtifactType, layers: []registry.Blob{bill, good}},
		{name: "flux-copies-the-readme", artifactType: contract.ArtifactType, layers: []registry.Blob{readme, good}, selector: copyFirst},
		{name: "flux-copies-the-catalog", artifactType: contract.ArtifactType, layers: []registry.Blob{good, bill}, selector: copyFirst},
		{name: "two-catalogs", artifactType: contract.ArtifactType, layers: []registry.Blob{good, good}, violated: "found 2 among 2 layers"},
		{name: "untitled", artifactType: contract.ArtifactType, layers: []registry.Blob{bill}, violated: "found none: it has"},
		{name: "foreign", artifactType: "application/vnd.example", layers: []registry.Blob{good}, violated: `artifactType is "application/vnd.example"`},
		{name: "index", artifactType: contract.ArtifactType, layers: []registry.Blob{good}, index: true, violated: "an index of several manifests"},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := s.name + "-" + test.name
			pushShape(t, name, test.artifactType, test.layers, test.index)
			repository := s.repository()
			repository.Name = name
			repository.Spec.URL = fmt.Sprintf("oci://%s/%s", system.RegistryHost(), name)
			repository.Spec.LayerSelector = test.selector
			s.create(repository)
			cs := s.selection.DeepCopy()
			cs.ObjectMeta = s.metaOf(name)
			cs.Spec.Sources[0].Name = name
			s.create(cs)
			t.Cleanup(func() { s.remove(cs, repository) })
			one := &scenario{t: t, name: s.name, selection: cs}
			if test.violated != "" {
				got := one.awaitStalled(v1alpha1.ContractViolatedReason)
				if message := conditions.GetMessage(got, meta.ReadyCondition); !strings.Contains(message, test.violated) {
					t.Errorf("the message is %q", message)
				}
				return
			}
			got := one.awaitSelection("published", func(cs *v1alpha1.CatalogSelection) error {
				if !conditions.IsReady(cs) {
					return errors.New("not ready")
				}
				return nil
			})
			var names []string
			for _, a := range got.Status.Applications {
				names = append(names, a.Name)
			}
			if fmt.Sprint(names) != "[decides-a decides-b decides-c]" {
				t.Errorf("published %v", names)
			}
		})
	}
}

// packed returns the layer of a catalog.
func packed(t *testing.T, apps []app) []byte {
	t.Helper()
	dir := t.TempDir()
	for _, a := range apps {
		writeApp(t, filepath.Join(dir, "applications", a.name), a)
	}
	name := "packed-" + apps[0].name
	if _, err := system.PushCatalog(t.Context(), dir, name+":v1", stack.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	from := plainRepository(t, name)
	_, raw, err := registry.FetchManifest(t.Context(), from, "v1")
	if err != nil {
		t.Fatal(err)
	}
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	content, err := registry.FetchLayer(t.Context(), from, m.Layers[0], 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func plainRepository(t *testing.T, name string) *remote.Repository {
	t.Helper()
	repository, err := remote.NewRepository(system.RegistryHost() + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	return repository
}

// pushShape pushes a manifest as v1, or an index with it.
func pushShape(t *testing.T, name, artifactType string, layers []registry.Blob, index bool) {
	t.Helper()
	to := plainRepository(t, name)
	m := v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, ArtifactType: artifactType, Config: v1.DescriptorEmptyJSON,
	}
	for _, blob := range append([]registry.Blob{{Descriptor: v1.DescriptorEmptyJSON, Content: []byte("{}")}}, layers...) {
		if err := registry.PushBlob(t.Context(), to, blob); err != nil {
			t.Fatal(err)
		}
	}
	for _, layer := range layers {
		m.Layers = append(m.Layers, layer.Descriptor)
	}
	descriptor := tagJSON(t, to, v1.MediaTypeImageManifest, m)
	if index {
		descriptor.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
		tagJSON(t, to, v1.MediaTypeImageIndex, v1.Index{
			Versioned: m.Versioned, MediaType: v1.MediaTypeImageIndex, Manifests: []v1.Descriptor{descriptor},
		})
	}
}

func tagJSON(t *testing.T, to *remote.Repository, mediaType string, value any) v1.Descriptor {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := oras.TagBytes(t.Context(), to, mediaType, raw, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return descriptor
}
