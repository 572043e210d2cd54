// SPDX-License-Identifier: Apache-2.0

// Package contents writes and reads the applications of an artifact that are no objects, such as packages of operators:
// no cluster has them, and no kustomization.yaml names them. It must not know those that are objects.
package contents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// Patterns match the paths of the files of contents in an artifact.
func Patterns() []string {
	return []string{catalog.PackagesDir + "/*/catalog.json", catalog.PackagesDir + "/*/catalog.yaml", catalog.FunctionsFile}
}

// FilesIn returns the paths of the files of a directory that may be contents of an artifact. A file in the
// place of a package has to be the package of that place.
func FilesIn(ctx context.Context, fsys fs.FS) ([]string, error) {
	var files []string
	for _, pattern := range Patterns() {
		found, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		return file != catalog.FunctionsFile && !holdsPackage(ctx, fsys, path.Dir(file))
	}), ctx.Err()
}

// holdsPackage reports whether a directory has the package with its name, and no other one.
func holdsPackage(ctx context.Context, fsys fs.FS, dir string) bool {
	of, err := fs.Sub(fsys, dir)
	if err != nil {
		return false
	}
	loaded, err := filebased.Load(ctx, of)
	return err == nil && len(loaded.Packages) == 1 && len(loaded.Others) == 0 && loaded.Packages[0].Name == path.Base(dir)
}

// Separate separates the selected applications that are objects from those that are contents, in their order.
func Separate(selected []selection.Decision) (objects, contents []selection.Decision) {
	isObject := func(d selection.Decision) bool { return d.Application.IsObject() }
	isContent := func(d selection.Decision) bool { return !isObject(d) }
	return each.Where(selected, isObject), each.Where(selected, isContent)
}

// Definitions returns what the safeguards compare of contents.
func Definitions(contents []selection.Decision) []safeguard.Definition {
	return each.Map(contents, Definition)
}

// Definition returns what the safeguards compare of a selected content.
func Definition(d selection.Decision) safeguard.Definition {
	a := d.Application
	defined := safeguard.Definition{APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name, Source: d.Source, Versions: d.Versions}
	if of := catalog.PackageOf(d.Kept); of != nil {
		defined.Package = safeguard.NewPackage(of)
		defined.Origins = defined.Package.ImageOrigins(d.Versions)
	}
	if of := catalog.FunctionOf(d.Kept); of != nil {
		defined.Origins = safeguard.RuntimeOrigins(of, d.Versions)
	}
	return defined
}

// Add adds the files of contents to a tree. No kustomization.yaml names them.
func Add(ctx context.Context, files *tree.Tree, contents []selection.Decision) error {
	merged := map[string]*bytes.Buffer{}
	var names []string
	for _, d := range contents {
		for _, file := range d.Kept.Files() {
			into := merged[file.Path]
			if into == nil {
				into = bytes.NewBuffer(bytes.Clone(file.Head))
				merged[file.Path] = into
				names = append(names, file.Path)
			}
			into.Write(file.Data)
		}
	}
	for _, name := range names {
		if err := files.Add(name, merged[name].Bytes()); err != nil {
			return fmt.Errorf("assembling the artifact: %w", err)
		}
	}
	if merged[catalog.FunctionsFile] == nil {
		return nil
	}
	return readable(ctx, files)
}

// readable refuses functions that no reader takes as one catalog, though each of their catalogs is within the limits.
func readable(ctx context.Context, files *tree.Tree) error {
	const name = catalog.FunctionsFile
	refuse := func(format string, args ...any) error {
		return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.limit", Err: fmt.Errorf(format+": select fewer functions", args...)}
	}
	if content, _ := files.Content(name); len(content) > krmfunctions.MaxFile {
		return refuse("%s would have %d bytes, and is read with at most %d", name, len(content), krmfunctions.MaxFile)
	}
	loaded, err := krmfunctions.LoadFile(ctx, files.FS(), name)
	if err == nil {
		err = loaded.Valid()
	}
	if _, invalid := errors.AsType[*krmfunctions.InvalidError](err); invalid {
		return refuse("%s would not be readable: %w", name, err)
	}
	return err
}

// Read reads the contents of an artifact, as selected applications: packages of operators, and functions.
func Read(ctx context.Context, files *tree.Tree) ([]selection.Decision, error) {
	packages := func(path string) (string, bool) { return strings.CutPrefix(path, catalog.PackagesDir+"/") }
	functions := func(path string) (string, bool) { return path, path == catalog.FunctionsFile }
	operators, err := readWith(ctx, catalog.FileBased{Named: true}, files, packages)
	if err != nil {
		return nil, err
	}
	more, err := readWith(ctx, catalog.KRMFunctions{}, files, functions)
	return append(operators, more...), err
}

// readWith reads the applications of the files that have a name.
func readWith(ctx context.Context, format catalog.Format, files *tree.Tree, name func(string) (string, bool)) ([]selection.Decision, error) {
	named, err := files.Copy(name, nil)
	if err != nil || named.Len() == 0 {
		return nil, err
	}
	loaded, err := format.Load(ctx, named.FS())
	if err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	return each.Map(loaded.Applications, func(a *catalog.Application) selection.Decision {
		return selection.Decision{Application: a, Selected: true, Versions: a.Versions, Kept: a.Content}
	}), nil
}
