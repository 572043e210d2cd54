// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// A pull request may name whatever is in a registry.
func TestWhatIsNoRenderedArtifactIsNotRead(t *testing.T) {
	files := tree.New()
	kustomization, err := tree.Kustomization{AllowEmpty: true}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Add("kustomization.yaml", kustomization); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, files); err != nil {
		t.Fatal(err)
	}
	layer := func(content string, edit func(*v1.Descriptor)) v1.Descriptor {
		d := v1.Descriptor{MediaType: v1.MediaTypeImageLayerGzip, Digest: digest.FromString(content), Size: int64(len(content))}
		if edit != nil {
			edit(&d)
		}
		return d
	}
	good := layer(packed.String(), nil)
	for _, test := range []struct {
		name     string
		manifest v1.Manifest
		raw      string
		// other is why it is none of Winnow, and want is part of the error; an artifact that is read has neither.
		other, want string
	}{
		{name: "a rendered artifact", manifest: v1.Manifest{Layers: []v1.Descriptor{good}}},
		{name: "another type", manifest: v1.Manifest{ArtifactType: "application/vnd.example", Layers: []v1.Descriptor{good}}, other: `its artifactType is "application/vnd.example"`},
		{name: "an index", raw: `{"schemaVersion": 2, "manifests": [{"digest": "` + good.Digest.String() + `"}]}`, other: "an index of several manifests"},
		{name: "no JSON", raw: "<html>", other: "its manifest cannot be read"},
		{name: "two layers", manifest: v1.Manifest{Layers: []v1.Descriptor{good, good}}, want: "want exactly one layer"},
		{name: "no layer", manifest: v1.Manifest{Layers: []v1.Descriptor{}}, want: "want exactly one layer"},
		{name: "a layer of another type", manifest: v1.Manifest{Layers: []v1.Descriptor{layer(packed.String(), func(d *v1.Descriptor) { d.MediaType = "text/plain" })}}, want: "want exactly one layer"},
		{name: "a huge layer", manifest: v1.Manifest{Layers: []v1.Descriptor{layer(packed.String(), func(d *v1.Descriptor) { d.Size = 1 << 40 })}}, want: "more than 67108864"},
		{name: "a layer that is missing", manifest: v1.Manifest{Layers: []v1.Descriptor{layer("lost", nil)}}, want: "fetching the layer"},
		{name: "a layer that is no archive", manifest: v1.Manifest{Layers: []v1.Descriptor{layer("text", nil)}}, want: "reading the artifact"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.manifest.ArtifactType == "" {
				test.manifest.ArtifactType = v1alpha1.RenderedArtifactType
			}
			raw := []byte(test.raw)
			if test.raw == "" {
				var err error
				if raw, err = json.Marshal(test.manifest); err != nil {
					t.Fatal(err)
				}
			}
			kept := map[string][]byte{"/v2/rendered/manifests/latest": raw}
			for _, content := range []string{packed.String(), "text"} {
				kept["/v2/rendered/blobs/"+digest.FromString(content).String()] = []byte(content)
			}
			server := httptest.NewServer(&memory{kept: kept})
			defer server.Close()
			pulled, err := connect(t, "oci://"+strings.TrimPrefix(server.URL, "http://")+"/rendered").PullRendered(t.Context())
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("PullRendered() = %+v, %v, want %q", pulled, err, test.want)
				}
			case err != nil || !strings.Contains(pulled.Other, test.other) || (pulled.Result == nil) != (test.other != ""):
				t.Errorf("PullRendered() = %+v, %v", pulled, err)
			}
		})
	}
}
