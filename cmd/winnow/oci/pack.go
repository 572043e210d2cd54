package oci

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/tree"
)

// CatalogFiles returns the files of a directory that belong to the catalog: those of applications/ and catalogs/,
// without hidden ones. Other files, such as a README or those of a build, must not change the digest. Errors name
// the directory.
func CatalogFiles(dir string, all *tree.Tree) (*tree.Tree, error) {
	files, applications := tree.New(), false
	for _, path := range all.Paths() {
		top, _, below := strings.Cut(path, "/")
		if !below || top != catalog.ApplicationsDirectory && top != catalog.ListsDirectory || strings.Contains(path, "/.") {
			continue
		}
		data, _ := all.Content(path)
		if err := files.Add(path, data); err != nil {
			return nil, err
		}
		applications = applications || top == catalog.ApplicationsDirectory
	}
	if applications {
		return files, nil
	}
	return nil, &render.Error{Code: v1alpha1.InvalidCatalogReason, Source: dir, Err: otherCatalog(all)}
}

// otherCatalog returns what is wrong with a directory without applications.
func otherCatalog(all *tree.Tree) error {
	format, err := catalog.Detect(all.FS())
	if err != nil || format.Name() == v1alpha1.FormatApplications {
		return fmt.Errorf("holds no %s/<dir>/application.yaml: pass the directory that has %s in it", catalog.ApplicationsDirectory, catalog.ApplicationsDirectory)
	}
	by := "publish it by flux push artifact"
	if format == (catalog.FileBased{}) {
		by = "push it by --as catalog-image as an image, or publish it by flux push artifact"
	}
	return fmt.Errorf("is a catalog of the format %s, which the contract of pushed catalogs does not have: %s", format.Name(), by)
}

// unpackAnnotation makes oras pull unpack a layer into the directory that its title names.
const unpackAnnotation = "io.deis.oras.content.unpack"

// Pack builds the artifact of a catalog. The same files and annotations give the same artifact. Errors name the
// directory. oras pull unpacks the layer of a catalog without named lists.
func Pack(dir string, files *tree.Tree, annotations map[string]string) (registry.Artifact, error) {
	layerAnnotations := map[string]string{v1.AnnotationTitle: contract.LayerTitle}
	write := archive.Write
	if !hasLists(files) {
		layerAnnotations[unpackAnnotation] = "true"
		write = archive.WriteWithDirectories
	}
	var packed bytes.Buffer
	if err := write(&packed, files); err != nil {
		return registry.Artifact{}, err
	}
	if limit := archive.DefaultLimits().Compressed; int64(packed.Len()) > limit {
		return registry.Artifact{}, &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: dir,
			Err: fmt.Errorf("its layer has %d bytes, more than the limit of %d", packed.Len(), limit)}
	}
	layer := registry.NewBlob(contract.LayerMediaType, packed.Bytes())
	layer.Descriptor.Annotations = layerAnnotations
	return registry.Pack(contract.ArtifactType, layer, annotations)
}

// hasLists reports whether a catalog has files outside of applications/. ORAS refuses to unpack these, because the
// title of the layer is not the prefix of their paths.
func hasLists(files *tree.Tree) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool { return !strings.HasPrefix(path, contract.LayerTitle+"/") })
}
