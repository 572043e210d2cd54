// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/tree"
)

// CatalogFiles returns the files of a directory that belong to a catalog of the format. Other files, such as a README or
// files of a build, must not change the digest. Errors name the directory.
func CatalogFiles(ctx context.Context, dir string, format catalog.Format, all *tree.Tree) (*tree.Tree, error) {
	paths := all.Paths()
	if format.Name() == v1alpha1.FormatFileBased {
		kept, err := filebased.Paths(ctx, all.FS())
		if err != nil {
			return nil, &render.Error{Code: v1alpha1.InvalidCatalogReason, Source: dir, Err: err}
		}
		slices.Sort(kept)
		paths = slices.DeleteFunc(paths, func(name string) bool {
			_, isKept := slices.BinarySearch(kept, name)
			return !isKept && path.Base(name) != filebased.IgnoreFile
		})
	}
	files := tree.New()
	for _, name := range paths {
		if !belongs(format, name) {
			continue
		}
		data, _ := all.Content(name)
		if err := files.Add(name, data); err != nil {
			return nil, err
		}
	}
	const directory = catalog.ApplicationsDirectory
	isApplication := func(path string) bool { return strings.HasPrefix(path, directory+"/") }
	if format == (catalog.Applications{}) && !slices.ContainsFunc(files.Paths(), isApplication) {
		return nil, &render.Error{Code: v1alpha1.InvalidCatalogReason, Source: dir, Err: fmt.Errorf(
			"holds no %s/<dir>/application.yaml: pass the directory that has %s in it", directory, directory)}
	}
	return files, nil
}

// belongs reports whether a file belongs to a catalog of a format. Applications have files in applications/ and catalogs/;
// functions also have files beside them, which may be their programs. In both, hidden files do not belong.
func belongs(format catalog.Format, path string) bool {
	switch isHidden := strings.HasPrefix(path, ".") || strings.Contains(path, "/."); format {
	case catalog.Applications{}:
		top, _, below := strings.Cut(path, "/")
		return below && !isHidden && (top == catalog.ApplicationsDirectory || top == catalog.ListsDirectory)
	case catalog.KRMFunctions{}:
		return !isHidden
	}
	return format.Needs(path)
}

// unpackAnnotation makes oras pull unpack a layer into the directory that its title names.
const unpackAnnotation = "io.deis.oras.content.unpack"

// Pack builds the artifact of a catalog: of Applications by the contract, and of other formats as flux push artifact does,
// so that Flux extracts its layer, whose content has the format. The same files and annotations give the same artifact.
// Errors name the directory. oras pull unpacks the layer of Applications without named lists.
func Pack(dir string, format catalog.Format, files *tree.Tree, annotations map[string]string) (registry.Artifact, error) {
	if format != (catalog.Applications{}) {
		layer, err := packLayer(dir, contract.FluxLayerMediaType, files, archive.Write)
		if err != nil {
			return registry.Artifact{}, err
		}
		return registry.PackConfig(registry.NewBlob(contract.FluxConfigMediaType, []byte("{}")), layer, annotations)
	}
	layerAnnotations := map[string]string{v1.AnnotationTitle: contract.LayerTitle}
	write := archive.Write
	if !hasLists(files) {
		layerAnnotations[unpackAnnotation] = "true"
		write = archive.WriteWithDirectories
	}
	layer, err := packLayer(dir, contract.LayerMediaType, files, write)
	if err != nil {
		return registry.Artifact{}, err
	}
	layer.Descriptor.Annotations = layerAnnotations
	return registry.Pack(contract.ArtifactType, layer, annotations)
}

// packLayer packs files that Winnow and Flux can read.
func packLayer(dir, mediaType string, files *tree.Tree, write func(io.Writer, *tree.Tree) error) (registry.Blob, error) {
	var packed bytes.Buffer
	if err := write(&packed, files); err != nil {
		return registry.Blob{}, err
	}
	if limit := archive.DefaultLimits().Compressed; int64(packed.Len()) > limit {
		return registry.Blob{}, &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: dir,
			Err: fmt.Errorf("its layer has %d bytes, more than the limit of %d", packed.Len(), limit)}
	}
	return registry.NewBlob(mediaType, packed.Bytes()), nil
}

// hasLists reports whether a catalog has files outside of applications/. ORAS refuses to unpack these, because the
// title of the layer is not the prefix of their paths.
func hasLists(files *tree.Tree) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool { return !strings.HasPrefix(path, contract.LayerTitle+"/") })
}
