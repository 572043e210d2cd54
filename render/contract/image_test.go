// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/render/contract"
)

func TestCatalogDirectory(t *testing.T) {
	for label, want := range map[string]string{"/configs": "configs", "configs/": "configs", "/opt/catalog": "opt/catalog"} {
		got, err := contract.CatalogDirectory(map[string]string{contract.ConfigsLabel: label})
		if got != want || err != nil {
			t.Errorf("CatalogDirectory(%q) = %q, %v", label, got, err)
		}
	}
	for _, label := range []string{"", "/", ".", "..", "/../etc", "/configs/../etc", "/a//b", "/" + strings.Repeat("a", 300)} {
		_, err := contract.CatalogDirectory(map[string]string{contract.ConfigsLabel: label})
		if err == nil || !strings.Contains(err.Error(), "want the path of a directory, such as /configs") {
			t.Errorf("CatalogDirectory(%q) = %v", label, err)
		}
	}
	if _, err := contract.CatalogDirectory(nil); err == nil || !strings.Contains(err.Error(), "without the label "+contract.ConfigsLabel) {
		t.Errorf("an image without a label: %v", err)
	}
}

func TestPackedImagesAreReproducible(t *testing.T) {
	var layer bytes.Buffer
	zipped := gzip.NewWriter(&layer)
	_, err := zipped.Write([]byte("layer"))
	if err != nil || zipped.Close() != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"b": "2", "a": "1"}
	packed, err := contract.PackImage(layer.Bytes(), labels, map[string]string{"c": "3"})
	if err != nil {
		t.Fatal(err)
	}
	wantConfig := `{"architecture":"amd64","os":"linux","config":{"Labels":{"a":"1","b":"2"}},"rootfs":{"type":"layers","diff_ids":["` +
		digest.FromString("layer").String() + `"]}}`
	if got := string(packed.Config); got != wantConfig {
		t.Errorf("the config is %s\nwant %s", got, wantConfig)
	}
	wantManifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":%d},"layers":[{"mediaType":%q,"digest":%q,"size":%d}],"annotations":{"c":"3"}}`,
		v1.MediaTypeImageManifest, v1.MediaTypeImageConfig, digest.FromString(wantConfig), len(wantConfig), v1.MediaTypeImageLayerGzip, digest.FromBytes(layer.Bytes()), layer.Len())
	if got := string(packed.Manifest); got != wantManifest || packed.Digest() != digest.FromString(wantManifest) {
		t.Errorf("the manifest is %s\nwant %s", got, wantManifest)
	}
}
