// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
)

func TestTheManifestSaysWhichLayerIsTheCatalog(t *testing.T) {
	packed := applications(t, "argocd nginx")
	good := catalogLayer(packed)
	readme := registry.NewBlob("text/markdown", []byte("# Read me\n"))
	sbom := registry.NewBlob(contract.LayerMediaType, catalogArchive(t, "sbom.json", "{}"))
	flux := registry.NewBlob(contract.FluxLayerMediaType, packed)
	byType := layerSelector(contract.LayerMediaType, sourcev1.OCILayerExtract)
	second := func(s shape) shape { s.flux = 1; return s }
	for _, test := range []struct {
		name  string
		shape shape
		edit  func(*sourcev1.OCIRepository)
		// layer is true if the layer is fetched from the registry.
		layer bool
	}{
		{name: "the only layer", shape: shaped(good)},
		{name: "the first layer", shape: shaped(good, readme)},
		{name: "the first of its media type", shape: second(shaped(readme, good)), edit: byType},
		{name: "copied unchanged", shape: shaped(good), edit: layerSelector(contract.LayerMediaType, sourcev1.OCILayerCopy)},
		{name: "a README comes first, and was extracted", shape: shaped(readme, good), layer: true},
		{name: "an SBOM of the same media type comes first", shape: shaped(sbom, good), edit: byType, layer: true},
		{name: "an SBOM was copied", shape: shaped(sbom, good), edit: layerSelector(contract.LayerMediaType, sourcev1.OCILayerCopy), layer: true},
		{name: "another media type was configured", shape: shaped(readme, good), edit: layerSelector("text/markdown", sourcev1.OCILayerExtract), layer: true},
		{name: "an artifact of flux push artifact", shape: shape{
			manifest: v1.Manifest{Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType}}, layers: []registry.Blob{flux},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, front := newEnvironment(t), newFront(t)
			e.pushed(e.repositoryAt(front.host()), test.shape, test.edit)
			front.taken()
			e.selectByManifest()
			cs, _ := e.publish("kkp")
			e.equal("applications", len(cs.Status.Applications), 2)
			requests := front.taken()
			var wanted int
			for _, request := range requests {
				if strings.Contains(request, "/blobs/"+good.Descriptor.Digest.String()) {
					wanted++
				}
			}
			if got := len(requests); (wanted == 1) != test.layer || got != 1+wanted {
				t.Errorf("the registry was asked for %q", requests)
			}
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"nginx"} })
			e.publish("kkp")
			e.equal("requests for a cached location", front.taken(), []string(nil))
		})
	}
}

// The log says it once for a revision: the location of the catalog is kept.
func TestAnIgnoredLayerOfListsIsInTheLog(t *testing.T) {
	packed := applications(t, "argocd")
	lists := registry.NewBlob(v1.MediaTypeImageLayerGzip, []byte("lists"))
	lists.Descriptor.Annotations = map[string]string{v1.AnnotationTitle: "catalogs"}
	for _, layers := range [][]registry.Blob{{catalogLayer(packed)}, {catalogLayer(packed), lists}} {
		e, front := newEnvironment(t), newFront(t)
		e.pushed(e.repositoryAt(front.host()), shaped(layers...))
		e.selectByManifest()
		e.log.lines = nil
		e.publish("kkp")
		if line := e.line(); strings.Contains(line, `"ignoredLayer"="source catalog: `+contract.IgnoredLists) != (len(layers) > 1) {
			t.Errorf("with %d layers: %s", len(layers), line)
		}
	}
}

func contractTroubles(t *testing.T) []trouble {
	packed := applications(t, "argocd")
	good := catalogLayer(packed)
	push := func(s shape, edit ...func(*sourcev1.OCIRepository)) func(e *environment) {
		return func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}} })
			e.pushed(e.repositoryAt(registryHost), s, edit...)
		}
	}
	raw := func(mediaType, content string) func(e *environment) {
		return func(e *environment) {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}} })
			to := e.repositoryAt(registryHost)
			e.upload(to, shaped(good))
			e.fluxPulled(to, e.uploadManifest(to, mediaType, []byte(content)), packed)
		}
	}
	foreign := shaped(good)
	foreign.manifest.ArtifactType = "application/vnd.cncf.helm.chart"
	newer := shaped(good)
	newer.manifest.ArtifactType = "application/vnd.kubermatic.application-catalog.v2"
	untitled := shaped(registry.NewBlob(contract.LayerMediaType, packed))
	large := strings.Repeat(" ", registry.MaxManifest)
	want := stalled("ContractViolated")
	copied := layerSelector(contract.LayerMediaType, sourcev1.OCILayerCopy)
	return []trouble{
		{name: "a foreign artifactType", cause: push(foreign), want: want,
			message: []string{"/catalog: manifest sha256:", "oci://" + registryHost, `artifactType is "application/vnd.cncf.helm.chart", want ` + contract.ArtifactType, "format: Applications"}},
		{name: "a contract that is too new", cause: push(newer), want: want, message: []string{"application-catalog.v2", "upgrade Winnow"}},
		{name: "a layer without the title", cause: push(untitled), want: want, message: []string{"with the title applications, found none: it has"}},
		{name: "two matching layers", cause: push(shaped(good, good)), want: want, message: []string{"found 2 among 2 layers"}},
		{name: "an index", want: want, message: []string{"an index without a manifest for linux/amd64: it has none"},
			cause: raw(v1.MediaTypeImageIndex, `{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}`)},
		{name: "an index of artifacts", want: want, message: []string{"an index of several manifests"},
			cause: raw(v1.MediaTypeImageIndex, `{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "artifactType": "a/b", "manifests": []}`)},
		{name: "an image of something else", cause: push(shape{
			manifest: v1.Manifest{Config: v1.Descriptor{MediaType: v1.MediaTypeImageConfig}}, layers: []registry.Blob{good},
		}), want: want, message: []string{"without the label " + contract.ConfigsLabel}},
		{name: "a copy with another digest", want: want, message: []string{good.Descriptor.Digest.String(), "which copies it, has sha256:"},
			cause: func(e *environment) {
				push(shaped(good), copied)(e)
				to := e.repositoryAt(registryHost)
				e.fluxPulled(to, e.upload(to, shaped(good)), applications(e.T, "evil"), copied)
			}},
		{name: "a manifest that is too large", want: want, message: []string{"manifest has 4194", "more than 4194304"}, cause: func(e *environment) {
			front := newFront(e.T)
			push(shaped(good))(e)
			to := e.repositoryAt(front.host())
			e.fluxPulled(to, e.upload(to, shaped(good)), packed)
			front.does(at("/manifests/", body(v1.MediaTypeImageManifest, "{}"+large)))
		}},
	}
}

func TestAContractThatIsViolated(t *testing.T) {
	for _, trouble := range contractTroubles(t) {
		t.Run(trouble.name+", at first", func(t *testing.T) { troubleAtFirst(t, trouble) })
		t.Run(trouble.name+", after a publication", func(t *testing.T) { troubleLater(t, trouble) })
	}
}
