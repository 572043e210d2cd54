package oci

import (
	"bytes"
	"fmt"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/tree"
)

// The directories of a catalog that its layer holds.
const (
	applicationsDirectory = "applications"
	listsDirectory        = "catalogs"
)

// CatalogFiles returns what is published of the files of a directory, which errors name: those of applications/ and
// catalogs/ but hidden ones. What else is there, a README or the files of a build, is not the catalog's, and must not
// give it another digest.
func CatalogFiles(dir string, all *tree.Tree) (*tree.Tree, error) {
	files, applications := tree.New(), false
	for _, path := range all.Paths() {
		top, _, below := strings.Cut(path, "/")
		if !below || top != applicationsDirectory && top != listsDirectory || strings.Contains(path, "/.") {
			continue
		}
		data, _ := all.Content(path)
		if err := files.Add(path, data); err != nil {
			return nil, err
		}
		applications = applications || top == applicationsDirectory
	}
	if !applications {
		return nil, &render.Error{Code: v1alpha1.InvalidCatalogReason, Source: dir, Err: fmt.Errorf(
			"holds no %s/<dir>/application.yaml: pass the directory that has %s in it", applicationsDirectory, applicationsDirectory)}
	}
	return files, nil
}

// Pack makes the artifact of a catalog's files, the same for the same files and annotations. Errors name the directory
// of the files. The layer has no attribute for oras to unpack
// it: oras would want all paths to begin with the title, and named lists do not.
func Pack(dir string, files *tree.Tree, annotations map[string]string) (registry.Artifact, error) {
	var packed bytes.Buffer
	if err := archive.Write(&packed, files); err != nil {
		return registry.Artifact{}, err
	}
	if limit := archive.DefaultLimits().Compressed; int64(packed.Len()) > limit {
		return registry.Artifact{}, &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: dir,
			Err: fmt.Errorf("its layer has %d bytes, more than %d, which nobody would read", packed.Len(), limit)}
	}
	layer := registry.NewBlob(contract.LayerMediaType, packed.Bytes())
	layer.Descriptor.Annotations = map[string]string{v1.AnnotationTitle: contract.LayerTitle}
	return registry.Pack(contract.ArtifactType, layer, annotations)
}
