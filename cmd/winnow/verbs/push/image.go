// SPDX-License-Identifier: Apache-2.0

package push

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/tree"
)

// packImage checks a file-based catalog and packs it as an image, which OLM serves. It returns a description of its
// content, too.
func packImage(ctx context.Context, dir string, annotations map[string]string, progress *output.Progress) (registry.Artifact, string, error) {
	files, err := readDirectory(ctx, dir, loading.LimitsOf(v1alpha1.FormatFileBased), render.CatalogLocation{})
	if err != nil {
		return registry.Artifact{}, "", err
	}
	configs, err := contract.ConfigsIn(files)
	if err != nil {
		return registry.Artifact{}, "", err
	}
	if configs != nil { // a rendered directory, or one with the files of an image
		files, dir = configs, filepath.Join(dir, contract.ConfigsDirectory)
	}
	progress.Step("checking " + dir)
	loaded, err := catalog.FileBased{Named: true}.Load(ctx, files.FS())
	if err != nil {
		return registry.Artifact{}, "", notPushed(dir, err)
	}
	if files, err = oci.CatalogFiles(ctx, dir, catalog.FileBased{Named: true}, files); err != nil {
		return registry.Artifact{}, "", err
	}
	image, err := contract.PackConfigs(files, annotations)
	if err != nil {
		return registry.Artifact{}, "", fmt.Errorf("packing %s: %w", dir, err)
	}
	bundles := 0
	for _, one := range loaded.Applications {
		bundles += len(one.Versions)
	}
	return registry.NewImage(image.Config, image.Layer, image.Manifest), plaintext.Count(len(loaded.Applications), "package") + " with " + plaintext.Count(bundles, "bundle") + inFiles(files), nil
}

// notPushed returns the error of a catalog that is invalid, with the paths of the files in its violations.
func notPushed(dir string, err error) error {
	var invalid *violation.InvalidError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("reading %s: %w", dir, err)
	}
	found := &violation.InvalidError{Violations: slices.Clone(invalid.Violations), Omitted: invalid.Omitted}
	for i := range found.Violations {
		found.Violations[i].Path = input.Directory(dir).Locate(found.Violations[i].Path)
	}
	return &render.Error{Code: v1alpha1.InvalidCatalogReason, Err: fmt.Errorf("not pushed: %w", found)}
}

// readDirectory reads all files of the directory that push was given.
func readDirectory(ctx context.Context, dir string, limits archive.Limits, place render.CatalogLocation) (*tree.Tree, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no catalog at %s: want a directory", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory: want a directory with a catalog", dir)
	}
	return input.ReadFiles(ctx, dir, input.Directory(dir), limits, place)
}

// inFiles describes the files of a catalog.
func inFiles(files *tree.Tree) string {
	return fmt.Sprintf(" in %s, %s", plaintext.Count(files.Len(), "file"), output.Size(files.Size()))
}
