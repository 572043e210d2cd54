// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/render/contract"
)

func layer(mediaType, title string) v1.Descriptor {
	d := v1.Descriptor{MediaType: mediaType, Digest: digest.FromString(mediaType + title), Size: 7}
	if title != "" {
		d.Annotations = map[string]string{v1.AnnotationTitle: title}
	}
	return d
}

var (
	catalogLayer = layer(v1.MediaTypeImageLayerGzip, "applications")
	readme       = layer("text/markdown", "README.md")
	sbom         = layer(v1.MediaTypeImageLayerGzip, "sbom")
	fluxLayer    = layer(contract.FluxLayerMediaType, "")
)

func manifest(edit func(*v1.Manifest)) string {
	m := v1.Manifest{MediaType: v1.MediaTypeImageManifest, ArtifactType: contract.ArtifactType, Layers: []v1.Descriptor{catalogLayer}}
	edit(&m)
	raw, _ := json.Marshal(m)
	return string(raw)
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name      string
		mediaType string
		edit      func(*v1.Manifest)
		format    string
		layer     v1.Descriptor
	}{
		{"a catalog", "", func(*v1.Manifest) {}, "Applications", catalogLayer},
		{"layers of others are ignored, wherever they stand", "", func(m *v1.Manifest) {
			m.Layers = []v1.Descriptor{readme, sbom, catalogLayer, layer("text/markdown", "applications")}
		}, "Applications", catalogLayer},
		{"a registry without OCI 1.1 has the type in the config", "", func(m *v1.Manifest) {
			m.ArtifactType, m.Config.MediaType = "", contract.ArtifactType
		}, "Applications", catalogLayer},
		{"the registry knows the media type", v1.MediaTypeImageManifest, func(m *v1.Manifest) { m.MediaType = "" }, "Applications", catalogLayer},
		{"what flux push artifact makes is known by its content", "", func(m *v1.Manifest) {
			m.ArtifactType, m.Config.MediaType, m.Layers = "", contract.FluxConfigMediaType, []v1.Descriptor{readme, fluxLayer}
		}, "Auto", fluxLayer},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := contract.Read(test.mediaType, []byte(manifest(test.edit)))
			if err != nil {
				t.Fatal(err)
			}
			if got.Format != test.format || got.Layer.Digest != test.layer.Digest || got.Layer.Size != test.layer.Size {
				t.Errorf("Read() = %+v", got)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	one := func(edit func(*v1.Manifest)) string { return manifest(edit) }
	for _, test := range []struct {
		name, mediaType, raw, want string
	}{
		{"an index", v1.MediaTypeImageIndex, `{"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}`,
			"it is an index of several manifests: push a single manifest, as winnow push does"},
		{"what is an index as well", "", strings.Replace(one(func(*v1.Manifest) {}), "{", `{"manifests": [], `, 1), "it is an index of several manifests: push"},
		{"another kind of manifest", "", one(func(m *v1.Manifest) { m.MediaType = "application/vnd.docker.distribution.manifest.v2+json" }),
			`its media type is "application/vnd.docker.distribution.manifest.v2+json", want application/vnd.oci.image.manifest.v1+json`},
		{"a media type that only the registry says", "text/html", one(func(m *v1.Manifest) { m.MediaType = "" }), `its media type is "text/html", want`},
		{"what is no JSON", "", `<html>`, "its manifest cannot be read: invalid character '<'"},
		{"JSON that is no manifest", "", `{"layers": 3}`, `its manifest cannot be read: "layers" is a number`},
		{"a foreign artifactType", "", one(func(m *v1.Manifest) { m.ArtifactType = "application/vnd.cncf.helm.chart" }),
			`its artifactType is "application/vnd.cncf.helm.chart", want application/vnd.kubermatic.application-catalog.v1, as winnow push makes it, ` +
				"or an artifact of flux push artifact; where it holds a catalog nevertheless, set format: Applications for the source"},
		{"an image", "", one(func(m *v1.Manifest) { m.ArtifactType, m.Config.MediaType = "", v1.MediaTypeImageConfig }),
			`its artifactType is "application/vnd.oci.image.config.v1+json", want`},
		{"a version of the contract that is too new", "", one(func(m *v1.Manifest) { m.ArtifactType = "application/vnd.kubermatic.application-catalog.v2" }),
			`its artifactType is "application/vnd.kubermatic.application-catalog.v2", but this version of Winnow reads ` +
				"application/vnd.kubermatic.application-catalog.v1: upgrade Winnow, or take an older catalog"},
		{"two matching layers", "", one(func(m *v1.Manifest) { m.Layers = append(m.Layers, readme, catalogLayer) }),
			"want exactly one layer of media type application/vnd.oci.image.layer.v1.tar+gzip with the title applications, found 2 among 3 layers"},
		{"no layer", "", one(func(m *v1.Manifest) { m.Layers = nil }), "with the title applications, found none: it has no layers"},
		{"a layer with another title", "", one(func(m *v1.Manifest) { m.Layers = []v1.Descriptor{sbom, fluxLayer} }),
			`found none: it has "application/vnd.oci.image.layer.v1.tar+gzip" with the title "sbom", "application/vnd.cncf.flux.content.v1.tar+gzip"`},
		{"two layers of Flux", "", one(func(m *v1.Manifest) {
			m.ArtifactType, m.Config.MediaType, m.Layers = "", contract.FluxConfigMediaType, []v1.Descriptor{fluxLayer, fluxLayer}
		}), "want exactly one layer of media type application/vnd.cncf.flux.content.v1.tar+gzip, found 2 among 2 layers"},
		{"a digest that is none", "", one(func(m *v1.Manifest) { m.Layers[0].Digest = "sha256:../../etc" }), `its layer has the digest "sha256:../../etc" and 7 bytes`},
		{"a layer of no size", "", one(func(m *v1.Manifest) { m.Layers[0].Size = -1 }), "and -1 bytes, which cannot be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := contract.Read(test.mediaType, []byte(test.raw))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Read() = %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestFirstArchive(t *testing.T) {
	docker := layer("application/vnd.docker.image.rootfs.diff.tar.gzip", "")
	for _, test := range []struct {
		name   string
		layers []v1.Descriptor
		want   v1.Descriptor
	}{
		{"of a foreign artifact", []v1.Descriptor{readme, sbom, catalogLayer}, sbom},
		{"of flux push artifact", []v1.Descriptor{fluxLayer}, fluxLayer},
		{"of an image of Docker's", []v1.Descriptor{docker}, docker},
		{"none", []v1.Descriptor{readme}, v1.Descriptor{}},
		{"one that cannot be", []v1.Descriptor{{MediaType: v1.MediaTypeImageLayerGzip, Digest: "x", Size: 1}}, v1.Descriptor{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw := manifest(func(m *v1.Manifest) { m.ArtifactType, m.Layers = "application/vnd.example", test.layers })
			got, err := contract.FirstArchive("", []byte(raw))
			if (err != nil) != (test.want.Digest == "") || err == nil && got.Digest != test.want.Digest {
				t.Errorf("FirstArchive() = %v, %v", got.MediaType, err)
			}
		})
	}
}

// Whatever a stranger writes into a manifest, the message fits a condition.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, raw := range []string{
		manifest(func(m *v1.Manifest) { m.ArtifactType = long }),
		manifest(func(m *v1.Manifest) { m.MediaType = long }),
		manifest(func(m *v1.Manifest) {
			m.Layers = nil
			for range 1000 {
				m.Layers = append(m.Layers, layer(long[:1000], long[:1000]))
			}
		}),
	} {
		if _, err := contract.Read("", []byte(raw)); err == nil || len(err.Error()) > 2000 {
			t.Errorf("Read() = %.2100v", err)
		}
	}
}

// source-controller takes the first layer, or the first one of the media type.
func TestCarriedBy(t *testing.T) {
	for _, test := range []struct {
		name     string
		layers   []v1.Descriptor
		selector string
		want     bool
	}{
		{"the only layer", []v1.Descriptor{catalogLayer}, "", true},
		{"the first of two", []v1.Descriptor{catalogLayer, readme}, "", true},
		{"the second of two", []v1.Descriptor{readme, catalogLayer}, "", false},
		{"the only one of the media type", []v1.Descriptor{readme, catalogLayer}, contract.LayerMediaType, true},
		{"not the first one of the media type", []v1.Descriptor{sbom, catalogLayer}, contract.LayerMediaType, false},
		{"another media type", []v1.Descriptor{readme, catalogLayer}, "text/markdown", false},
		{"a media type that is not there", []v1.Descriptor{catalogLayer}, "text/html", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := contract.Read("", []byte(manifest(func(m *v1.Manifest) { m.Layers = test.layers })))
			if err != nil {
				t.Fatal(err)
			}
			if got := c.CarriedBy(test.selector); got != test.want {
				t.Errorf("CarriedBy(%q) = %v", test.selector, got)
			}
		})
	}
}

func TestListsInALayerOfTheirOwnAreIgnored(t *testing.T) {
	lists := catalogLayer
	lists.Digest, lists.Annotations = readme.Digest, map[string]string{v1.AnnotationTitle: "catalogs"}
	for want, layers := range map[bool][]v1.Descriptor{true: {catalogLayer, lists}, false: {catalogLayer, readme}} {
		c, err := contract.Read("", []byte(manifest(func(m *v1.Manifest) { m.Layers = layers })))
		if err != nil || c.ListsLayer() != want {
			t.Errorf("ListsLayer() = %v, %v, want %v", c.ListsLayer(), err, want)
		}
	}
}

// The manifest in KKP's proposal of application catalogs, as oras pushes it: the config has its data, the layer oras's own
// annotations, and the artifact a time.
func TestReadKnowsTheManifestOfTheProposal(t *testing.T) {
	const layerDigest = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
	got, err := contract.Read("", []byte(`{
	  "schemaVersion": 2,
	  "mediaType": "application/vnd.oci.image.manifest.v1+json",
	  "artifactType": "application/vnd.kubermatic.application-catalog.v1",
	  "config": {
	    "mediaType": "application/vnd.oci.empty.v1+json",
	    "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
	    "size": 2,
	    "data": "e30="
	  },
	  "layers": [{
	    "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
	    "digest": "`+layerDigest+`",
	    "size": 4096,
	    "annotations": {
	      "io.deis.oras.content.digest": "sha256:1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b",
	      "io.deis.oras.content.unpack": "true",
	      "org.opencontainers.image.title": "applications"
	    }
	  }],
	  "annotations": {"org.opencontainers.image.created": "2026-01-01T00:00:00Z"}
	}`))
	if err != nil || got.Format != "Applications" || got.Layer.Digest != layerDigest || got.Layer.Size != 4096 {
		t.Errorf("Read() = %+v, %v", got, err)
	}
}
