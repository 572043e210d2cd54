// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/tree"
)

// ConfigsLabel is the label in the config of a container image whose value is the directory with a file-based catalog
// of OLM.
const ConfigsLabel = "operators.operatorframework.io.index.configs.v1"

// ConfigsDirectory is that directory in the images of opm and of Winnow, without the slash in front of it, and the
// directory of packages in a rendered artifact.
const ConfigsDirectory = catalog.PackagesDir

// CatalogDirectory returns the directory of an image that is a file-based catalog, without slashes around it, by the
// labels of the image's config.
func CatalogDirectory(labels map[string]string) (string, error) {
	label, ok := labels[ConfigsLabel]
	if !ok {
		return "", fmt.Errorf("it is a container image without the label %s in its config, which names the directory of a catalog of operators: "+
			"want such an image, an artifact of winnow push or one of flux push artifact; "+
			"where it holds a catalog nevertheless, set the format of the source, such as Applications", ConfigsLabel)
	}
	directory := strings.Trim(label, "/")
	if directory == "." || !fs.ValidPath(directory) || len(directory) > 255 {
		return "", fmt.Errorf("the label %s in its config is %s, want the path of a directory, such as /%s", ConfigsLabel, brief(label), ConfigsDirectory)
	}
	return directory, nil
}

// ConfigsLabels returns the labels of an image whose layer ConfigsLayer makes.
func ConfigsLabels() map[string]string {
	return map[string]string{ConfigsLabel: "/" + ConfigsDirectory}
}

// Image is a container image of one layer.
type Image struct{ Config, Layer, Manifest []byte }

// Digest returns the digest of the manifest.
func (i Image) Digest() digest.Digest { return digest.FromBytes(i.Manifest) }

// PackConfigs returns an image with the files of a file-based catalog. It depends on its arguments alone.
func PackConfigs(files *tree.Tree, annotations map[string]string) (Image, error) {
	layer, err := ConfigsLayer(files)
	if err != nil {
		return Image{}, err
	}
	return PackImage(layer, ConfigsLabels(), annotations)
}

// PackImage returns an image of one layer, a tar+gzip, with the labels in its config. It depends on its arguments alone.
func PackImage(layer []byte, labels, annotations map[string]string) (Image, error) {
	content, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return Image{}, fmt.Errorf("reading the layer: %w", err)
	}
	plain, err := digest.FromReader(content)
	if err != nil {
		return Image{}, fmt.Errorf("reading the layer: %w", err)
	}
	config, err := json.Marshal(v1.Image{
		Platform: v1.Platform{OS: "linux", Architecture: "amd64"},
		Config:   v1.ImageConfig{Labels: labels},
		RootFS:   v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{plain}},
	})
	if err != nil {
		return Image{}, fmt.Errorf("encoding the config: %w", err)
	}
	manifest, err := json.Marshal(v1.Manifest{
		Versioned:   specs.Versioned{SchemaVersion: 2},
		MediaType:   v1.MediaTypeImageManifest,
		Config:      describeBlob(v1.MediaTypeImageConfig, config),
		Layers:      []v1.Descriptor{describeBlob(v1.MediaTypeImageLayerGzip, layer)},
		Annotations: annotations,
	})
	if err != nil {
		return Image{}, fmt.Errorf("encoding the manifest: %w", err)
	}
	return Image{Config: config, Layer: layer, Manifest: manifest}, nil
}

func describeBlob(mediaType string, data []byte) v1.Descriptor {
	return v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
}

// ServedAnnotations returns the annotations of an image whose digest a catalog in the artifact names. The revision of
// the artifact depends on that digest, so the image names neither it nor the revisions of the sources. selection is
// namespace/name of the CatalogSelection.
func ServedAnnotations(selection string) map[string]string {
	return map[string]string{v1alpha1.SelectionAnnotation: selection}
}

// ConfigsLayer returns the layer of an image, a tar+gzip, with the files of a file-based catalog. The same files give
// the same bytes.
func ConfigsLayer(files *tree.Tree) ([]byte, error) {
	placed, err := files.Copy(func(path string) (string, bool) { return ConfigsDirectory + "/" + path, true }, nil)
	if err != nil {
		return nil, fmt.Errorf("packing the catalog: %w", err)
	}
	var layer bytes.Buffer
	if err := archive.WriteWithDirectories(&layer, placed); err != nil {
		return nil, fmt.Errorf("packing the catalog: %w", err)
	}
	return layer.Bytes(), nil
}

// ConfigsIn returns the files of the file-based catalog in a rendered artifact, with paths that are relative to its
// directory; nil for an artifact without one.
func ConfigsIn(artifact *tree.Tree) (*tree.Tree, error) {
	artifact, err := seal.Removed(artifact)
	if err != nil {
		return nil, err
	}
	files, err := artifact.Copy(func(path string) (string, bool) { return strings.CutPrefix(path, ConfigsDirectory+"/") }, nil)
	if err != nil || files.Len() == 0 {
		return nil, err
	}
	return files, nil
}
