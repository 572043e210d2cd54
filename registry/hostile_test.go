// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/winnow-dev/winnow/registry"
)

// A document of 4 MB that a registry serves is no reason to decode half a gigabyte.
func TestCostOfHostileManifests(t *testing.T) {
	s := newStore()
	from := serve(t, s.ServeHTTP)
	list := func(element string) json.RawMessage {
		return json.RawMessage("[" + strings.Repeat(element+",", 4_000_000/(len(element)+1)) + element + "]")
	}
	manifest := func(config v1.Descriptor, layers any) v1.Descriptor {
		return s.add(v1.MediaTypeImageManifest, map[string]any{"mediaType": v1.MediaTypeImageManifest, "config": config, "layers": layers})
	}
	config := func(history any) v1.Descriptor {
		return s.add(v1.MediaTypeImageConfig, map[string]any{"history": history})
	}
	layers := []v1.Descriptor{{MediaType: v1.MediaTypeImageLayerGzip, Digest: "sha256:x", Size: 1}}
	deep := json.RawMessage(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999))
	for _, test := range []struct {
		name     string
		manifest v1.Descriptor
		want     string
	}{
		{"layers", manifest(config(nil), list("{}")), "its manifest has more than 100000 elements"},
		{"layers that are null", manifest(config(nil), list("null")), "its manifest has more than 100000 elements"},
		{"manifests of an index", s.add(v1.MediaTypeImageIndex, map[string]any{"manifests": list("{}")}), "its manifest has more than 100000 elements"},
		{"history in a config", manifest(config(list("{}")), layers), "its config has more than 100000 elements"},
		{"levels", manifest(config(nil), deep), "its manifest cannot be read: json: cannot unmarshal array into Go struct field document.layers"},
		{"levels in a config", manifest(config(deep), layers), `its config cannot be read: "history" is a array`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found, raw, err := registry.FetchManifest(t.Context(), from, test.manifest.Digest.String())
			if err == nil {
				_, err = registry.FetchImage(t.Context(), from, found, raw)
			}
			runtime.ReadMemStats(&after)
			var refused *registry.ImageError
			if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %.200v, want %s", err, test.want)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
				t.Errorf("allocated %d MB", allocated>>20)
			}
		})
	}
}

// Whatever a registry serves as a manifest, reading it ends, and an image that is accepted has layers.
func FuzzManifest(f *testing.F) {
	for _, raw := range []string{
		`{"mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {"mediaType": "application/vnd.oci.image.config.v1+json"}, "layers": [{}]}`,
		`{"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{"platform": {"os": "linux", "architecture": "amd64"}}]}`,
		`{"layers": [null], "manifests": null}`, `[`, "",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := newStore()
		d := content.NewDescriptorFromBytes(v1.MediaTypeImageManifest, raw)
		if !registry.MayBeImage(d.MediaType, raw) {
			return
		}
		image, err := registry.FetchImage(t.Context(), serve(t, s.ServeHTTP), d, raw)
		if err == nil && len(image.Layers) == 0 {
			t.Errorf("an image without layers: %+v", image)
		}
		if err == nil {
			_ = image.Unpack(t.Context(), blobs{}, "configs", full{}, registry.UnpackLimits{})
		}
	})
}

// Whatever a layer has, the files that are taken from it are within the limits and below the directory.
func FuzzUnpack(f *testing.F) {
	for _, entries := range [][]entry{
		nil, {{name: "configs/a", content: "a"}, {name: "configs/.wh.b"}, {name: "./configs/c/"}}, {{name: "configs/.wh..wh..opq"}}, {{name: "../a", content: "a"}},
	} {
		f.Add(layerOf(f, entries...), layerOf(f, entry{name: "configs/b", content: "b"}))
	}
	f.Fuzz(func(t *testing.T, low, high []byte) {
		image, from := imageOf(v1.MediaTypeImageLayer, low, high)
		limits := registry.UnpackLimits{Compressed: 1 << 16, Uncompressed: 1 << 16, Files: 1 << 10}
		files, err := unpacked(context.Background(), image, from, limits)
		var refused *registry.ImageError
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("bytes in memory are to blame for %v", err)
		}
		size := 0
		for name, text := range files {
			size += len(text)
			if name == "" || strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Errorf("the path is %q", name)
			}
		}
		if size > 2<<10 { // in each of the layers
			t.Errorf("%d bytes", size)
		}
	})
}
