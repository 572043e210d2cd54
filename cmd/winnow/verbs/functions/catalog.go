// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/functions"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// openFunctions opens a catalog of functions: a CATALOG, a file of YAML, or one on a web server with its digest.
func openFunctions(ctx context.Context, where string, access *flags.Access) (*functions.Source, error) {
	s := &functions.Source{Reference: where}
	var err error
	switch {
	case strings.HasPrefix(where, functions.HTTPS):
		s.IsFile = true
		s.Reference, s.Catalog, err = downloadFunctions(ctx, where, access)
	case krmfunctions.IsRemote(where) && !strings.HasPrefix(where, oci.Scheme):
		return nil, fmt.Errorf("%s: catalogs of functions are read from files, from registries, and from https:// with a digest: clone or download it", where)
	default:
		s.Dir, s.Catalog, err = loadFunctions(ctx, where, access)
	}
	if err == nil {
		return s, nil
	}
	invalid, ok := errors.AsType[*krmfunctions.InvalidError](err)
	if !ok {
		return nil, err
	}
	locate(s, invalid.Kept)
	return nil, output.Finding(fmt.Errorf("the catalog of functions %s: %w", where, invalid))
}

// locate gives findings the paths for messages.
func locate(s *functions.Source, all []finding.Finding) {
	for i, one := range all {
		all[i].Path = s.Locate(one.Path)
	}
}

// loadFunctions loads a catalog of functions. dir is the directory that it is in, empty for an archive and a registry.
func loadFunctions(ctx context.Context, where string, access *flags.Access) (dir string, _ *krmfunctions.Catalog, _ error) {
	if isYAMLFile(where) {
		dir = filepath.Dir(where)
		root, err := os.OpenRoot(dir)
		if err != nil {
			return dir, nil, err
		}
		defer root.Close()
		loaded, err := krmfunctions.LoadFile(ctx, root.FS(), filepath.Base(where))
		return dir, loaded, err
	}
	opened, err := input.OpenCatalog(where, v1alpha1.FormatKRMFunctions, access)
	if errors.Is(err, input.ErrNoCatalog) {
		err = fmt.Errorf("%w, or a YAML file", err)
	}
	if err != nil {
		return "", nil, err
	}
	if in, ok := opened.(input.Directory); ok { // programs may lie beside the catalog, which an archive would refuse
		root, err := os.OpenRoot(string(in))
		if err != nil {
			return string(in), nil, err
		}
		defer root.Close()
		loaded, err := loadFunctionsIn(ctx, root.FS())
		return string(in), loaded, err
	}
	files, err := input.ReadFiles(ctx, where, opened, archive.Limits{}, render.CatalogLocation{})
	if err != nil {
		return "", nil, err
	}
	loaded, err := loadFunctionsIn(ctx, files.FS())
	return "", loaded, err
}

// loadFunctionsIn loads the catalogs in a tree of files; from the artifact of a selection, or its directory of functions,
// its functions.
func loadFunctionsIn(ctx context.Context, fsys fs.FS) (*krmfunctions.Catalog, error) {
	if seal.IsIn(fsys) {
		return krmfunctions.LoadFile(ctx, fsys, path.Base(catalog.FunctionsFile))
	}
	for _, name := range []string{render.KustomizationFile, catalog.FunctionsFile} {
		if _, err := fs.Stat(fsys, name); err != nil {
			return krmfunctions.Load(ctx, fsys)
		}
	}
	return krmfunctions.LoadFile(ctx, fsys, catalog.FunctionsFile)
}

// isYAMLFile reports whether a path leads to a file with a name of YAML.
func isYAMLFile(where string) bool {
	if strings.HasPrefix(where, oci.Scheme) || !yamlnode.IsYAMLOrJSON(filepath.ToSlash(where)) {
		return false
	}
	info, err := os.Stat(where)
	return err == nil && !info.IsDir()
}

// defaultFunctionCatalogs returns the catalogs of functions in the file winnow/functions.yaml of the user's directory of
// configuration, which a platform team may install: it stands for the catalog that KEP-2906 compiles into kustomize.
// Paths in it are relative to it.
func defaultFunctionCatalogs(ctx context.Context, notes io.Writer) ([]string, error) {
	dir, err := os.UserConfigDir()
	switch {
	case err != nil && os.Getenv("XDG_CONFIG_HOME") != "":
		return nil, fmt.Errorf("looking for the catalogs of this user: %w", err)
	case err != nil:
		return nil, nil // a user without a home has no configuration
	}
	file := filepath.Join(dir, "winnow", "functions.yaml")
	content, err := files.ReadFile(ctx, file, maxDefaults)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the catalogs of this user: %w", err)
	}
	var defaults struct {
		Catalogs []string `json:"catalogs"`
	}
	if err := dialect.UnmarshalStrict(content, &defaults); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, where := range defaults.Catalogs {
		if !strings.HasPrefix(where, oci.Scheme) && !strings.HasPrefix(where, functions.HTTPS) && !filepath.IsAbs(where) {
			defaults.Catalogs[i] = filepath.Join(filepath.Dir(file), where)
		}
	}
	if len(defaults.Catalogs) > 0 {
		output.PrintNote(notes, fmt.Sprintf("note: %s has the first catalogs: %s", file, strings.Join(defaults.Catalogs, ", ")))
	}
	return defaults.Catalogs, nil
}

// maxDefaults bounds the file of the user's catalogs, in bytes.
const maxDefaults = 64 << 10
