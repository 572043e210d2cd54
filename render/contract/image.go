package contract

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
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

// ConfigsLayer returns the layer of an image, a tar+gzip, with the files of a file-based catalog. The same files give
// the same bytes.
func ConfigsLayer(files *tree.Tree) ([]byte, error) {
	placed := tree.New()
	for _, path := range files.Paths() {
		data, _ := files.Content(path)
		if err := placed.Add(ConfigsDirectory+"/"+path, data); err != nil {
			return nil, fmt.Errorf("packing the catalog: %w", err)
		}
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
	var files *tree.Tree
	for _, path := range artifact.Paths() {
		below, ok := strings.CutPrefix(path, ConfigsDirectory+"/")
		if !ok {
			continue
		}
		if files == nil {
			files = tree.New()
		}
		data, _ := artifact.Content(path)
		if err := files.Add(below, data); err != nil {
			return nil, fmt.Errorf("reading the catalog: %w", err)
		}
	}
	return files, nil
}
