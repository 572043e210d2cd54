// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/registry"
)

// store is a registry with content by its digest.
type store struct {
	kept map[digest.Digest][]byte
	// types are the media types of manifests.
	types map[digest.Digest]string
}

func newStore() *store {
	return &store{map[digest.Digest][]byte{}, map[digest.Digest]string{}}
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sum := digest.Digest(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	found, ok := s.kept[sum]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", s.types[sum])
	w.Header().Set("Docker-Content-Digest", sum.String())
	w.Header().Set("Content-Length", fmt.Sprint(len(found)))
	_, _ = w.Write(found)
}

// add adds a document of JSON.
func (s *store) add(mediaType string, document any) v1.Descriptor {
	raw, _ := json.Marshal(document)
	d := content.NewDescriptorFromBytes(mediaType, raw)
	s.kept[d.Digest], s.types[d.Digest] = raw, mediaType
	return d
}

// image adds an image with the label, for a platform.
func (s *store) image(label, platform string, edit func(*v1.Manifest)) v1.Descriptor {
	config := v1.Image{Platform: v1.Platform{OS: "linux", Architecture: platform}, Config: v1.ImageConfig{Labels: map[string]string{"of": label}}}
	m := v1.Manifest{MediaType: v1.MediaTypeImageManifest, Config: s.add(v1.MediaTypeImageConfig, config), Layers: []v1.Descriptor{
		{MediaType: v1.MediaTypeImageLayerGzip, Digest: digest.FromString(label), Size: 7},
	}}
	if edit != nil {
		edit(&m)
	}
	d := s.add(m.MediaType, m)
	d.Platform = &v1.Platform{OS: "linux", Architecture: platform}
	return d
}

func (s *store) index(mediaType string, manifests ...v1.Descriptor) v1.Descriptor {
	return s.add(mediaType, v1.Index{MediaType: mediaType, Manifests: manifests})
}

// fetch fetches the image of a manifest, if it may be one.
func (s *store) fetch(t *testing.T, from *remote.Repository, manifest v1.Descriptor) (registry.Image, error) {
	t.Helper()
	found, raw, err := registry.FetchManifest(t.Context(), from, manifest.Digest.String())
	if err != nil {
		t.Fatal(err)
	}
	if !registry.MayBeImage(found.MediaType, raw) {
		return registry.Image{}, errors.New("no image")
	}
	return registry.FetchImage(t.Context(), from, found, raw)
}

const (
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
)

func TestFetchImage(t *testing.T) {
	s := newStore()
	from := serve(t, s.ServeHTTP)
	ofDocker := func(m *v1.Manifest) { m.MediaType, m.Config.MediaType = dockerManifest, dockerConfig }
	amd, arm := s.image("amd", "amd64", nil), s.image("arm", "arm64", nil)
	attestation := s.image("attestation", "unknown", nil)
	for _, test := range []struct {
		name     string
		manifest v1.Descriptor
		want     string
	}{
		{"an image", amd, "amd"},
		{"an image for another platform: the files are the same", arm, "arm"},
		{"an image of Docker", s.image("docker", "amd64", ofDocker), "docker"},
		{"an index", s.index(v1.MediaTypeImageIndex, attestation, arm, amd), "amd"},
		{"an index of Docker", s.index(dockerIndex, arm, s.image("docker", "amd64", ofDocker)), "docker"},
		{"the first of two", s.index(v1.MediaTypeImageIndex, amd, s.image("v3", "amd64", nil)), "amd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			image, err := s.fetch(t, from, test.manifest)
			if err != nil || image.Labels["of"] != test.want || len(image.Layers) != 1 || image.Layers[0].Digest != digest.FromString(test.want) {
				t.Errorf("FetchImage() = %+v, %v", image, err)
			}
		})
	}
}

func TestFetchImageRefuses(t *testing.T) {
	s := newStore()
	from := serve(t, s.ServeHTTP)
	arm := s.image("arm", "arm64", nil)
	nested := s.index(v1.MediaTypeImageIndex, arm)
	nested.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
	text := s.add(v1.MediaTypeImageConfig, map[string]any{"config": map[string]any{"Labels": 3}})
	unplaced := arm
	unplaced.Platform = nil
	odd := nested
	odd.Digest = "sha256:../../etc"
	layer := v1.Descriptor{MediaType: v1.MediaTypeImageLayerGzip, Digest: digest.FromString("x"), Size: 7}
	with := func(edit func(*v1.Manifest)) v1.Descriptor { return s.image("edited", "amd64", edit) }
	for _, test := range []struct {
		name     string
		manifest v1.Descriptor
		want     string
	}{
		{"an index without linux/amd64", s.index(v1.MediaTypeImageIndex, arm, unplaced), `it is an index without a manifest for linux/amd64: it has "linux/arm64", one without a platform`},
		{"an index of nothing", s.index(v1.MediaTypeImageIndex), "it is an index without a manifest for linux/amd64: it has none"},
		{"an index in an index", s.index(v1.MediaTypeImageIndex, nested), "it is an index of several manifests"},
		{"an index with a digest that cannot be", s.index(v1.MediaTypeImageIndex, odd), `its index has the digest "sha256:../../etc"`},
		{"1000 layers", with(func(m *v1.Manifest) {
			for range 999 {
				m.Layers = append(m.Layers, layer)
			}
		}), "it has 1000 layers, more than 128"},
		{"no layers", with(func(m *v1.Manifest) { m.Layers = nil }), "it has no layers"},
		{"a config of 100 MB", with(func(m *v1.Manifest) { m.Config.Size = 100 << 20 }), "its config has 104857600 bytes, more than 4194304"},
		{"a config without a digest", with(func(m *v1.Manifest) { m.Config.Digest = "" }), `its config has the digest ""`},
		{"a config that is none", with(func(m *v1.Manifest) { m.Config = text }), `its config cannot be read: "config.Labels" is a number`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.fetch(t, from, test.manifest)
			var refused *registry.ImageError
			var large *registry.TooLargeError
			if !errors.As(err, &refused) && !errors.As(err, &large) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("FetchImage() = %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestMayBeImage(t *testing.T) {
	for _, test := range []struct {
		name, mediaType, raw string
		want                 bool
	}{
		{"an image", "", `{"mediaType": "` + v1.MediaTypeImageManifest + `", "config": {"mediaType": "` + v1.MediaTypeImageConfig + `"}}`, true},
		{"a media type that only the registry has", v1.MediaTypeImageManifest, `{"config": {"mediaType": "` + v1.MediaTypeImageConfig + `"}}`, true},
		{"an index", v1.MediaTypeImageIndex, `{"manifests": []}`, true},
		{"an artifact", v1.MediaTypeImageManifest, `{"artifactType": "a/b", "config": {"mediaType": "` + v1.MediaTypeImageConfig + `"}}`, false},
		{"an index of artifacts", v1.MediaTypeImageIndex, `{"artifactType": "a/b", "manifests": []}`, false},
		{"another config", v1.MediaTypeImageManifest, `{"config": {"mediaType": "application/vnd.cncf.flux.config.v1+json"}}`, false},
		{"an image that is an index as well", v1.MediaTypeImageManifest, `{"config": {"mediaType": "` + v1.MediaTypeImageConfig + `"}, "manifests": []}`, false},
		{"an index that is an image as well", v1.MediaTypeImageIndex, `{"layers": [], "manifests": []}`, false},
		{"no JSON", v1.MediaTypeImageIndex, `<html>`, false},
	} {
		if got := registry.MayBeImage(test.mediaType, []byte(test.raw)); got != test.want {
			t.Errorf("%s: MayBeImage() = %t", test.name, got)
		}
	}
}
