package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// The directories of a catalog that its layer holds.
const (
	applicationsDirectory = "applications"
	listsDirectory        = "catalogs"
)

// stored is what a registry keeps under a digest.
type stored struct {
	descriptor v1.Descriptor
	content    []byte
}

// artifact is a catalog as a registry has it, after the catalog contract. It is a function of
// the catalog's files and of the annotations.
type artifact struct {
	config, layer, manifest stored
}

// readCatalogDirectory reads what is to be published of a directory: all files of applications/
// and catalogs/ but hidden ones. What else is there, a README or the files of a build, is not
// the catalog's, and must not give it another digest.
func readCatalogDirectory(ctx context.Context, dir string) (*tree.Tree, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no catalog at %s: want a directory", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory: what is published is a directory that holds %s", dir, applicationsDirectory)
	}
	all, err := readDirectory(ctx, dir)
	if err != nil {
		return nil, refused(dir, err)
	}
	return catalogFiles(dir, all)
}

func catalogFiles(dir string, all *tree.Tree) (*tree.Tree, error) {
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
		return nil, &render.Error{Reason: v1alpha1.InvalidCatalogReason, Source: dir, Err: fmt.Errorf(
			"holds no %s/<dir>/application.yaml: pass the directory that has %s in it", applicationsDirectory, applicationsDirectory)}
	}
	return files, nil
}

// packArtifact makes the artifact of a catalog's files. The layer has no attribute for oras to unpack
// it: oras would want all paths to begin with the title, and named lists do not.
func packArtifact(dir string, files *tree.Tree, annotations map[string]string) (artifact, error) {
	var packed bytes.Buffer
	if err := archive.Write(&packed, files); err != nil {
		return artifact{}, err
	}
	if limit := archive.DefaultLimits().Compressed; int64(packed.Len()) > limit {
		return artifact{}, &render.Error{Reason: v1alpha1.InvalidArchiveReason, Source: dir,
			Err: fmt.Errorf("its layer has %d bytes, more than %d, which nobody would read", packed.Len(), limit)}
	}
	a := artifact{
		config: stored{v1.DescriptorEmptyJSON, v1.DescriptorEmptyJSON.Data},
		layer:  newStored(v1.MediaTypeImageLayerGzip, packed.Bytes()),
	}
	a.layer.descriptor.Annotations = map[string]string{v1.AnnotationTitle: catalogLayerTitle}
	// Not with oras.PackManifest, which always says when.
	manifest, err := json.Marshal(v1.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    v1.MediaTypeImageManifest,
		ArtifactType: catalogArtifactType,
		Config:       a.config.descriptor,
		Layers:       []v1.Descriptor{a.layer.descriptor},
		Annotations:  annotations,
	})
	a.manifest = newStored(v1.MediaTypeImageManifest, manifest)
	return a, err
}

func newStored(mediaType string, data []byte) stored {
	return stored{descriptor: content.NewDescriptorFromBytes(mediaType, data), content: data}
}
