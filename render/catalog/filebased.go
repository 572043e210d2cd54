// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// FileBased is the format of OLM's file-based catalogs. A package is an application, a bundle a version of it.
type FileBased struct {
	// Named reports whether the user named the format. Then each file that no .indexignore names has to belong to the
	// catalog, as for `opm validate`. Otherwise files with other names than Detect looks at must not be there.
	Named bool
}

// Name implements Format.
func (FileBased) Name() string { return v1alpha1.FormatFileBased }

// packageSchema marks a document as a package, in YAML and in JSON.
var packageSchema = regexp.MustCompile(`["']?\bschema["']?\s*:\s*["']?olm\.(?:package|channel|bundle)\b`)

// Detect reports whether a file has the schema of a package, a channel or a bundle. It ignores trees of Applications,
// whose default values may have anything.
func (FileBased) Detect(fsys fs.FS) (bool, error) {
	other, err := Applications{}.Detect(fsys)
	if other || err != nil {
		return false, err
	}
	wanted := func(name string) bool { return isFileBased(name) && path.Base(name) != filebased.IgnoreFile }
	return anyFile(fsys, filebased.MaxFile, wanted, packageSchema.Match)
}

const noPackage = "holds no package of a file-based catalog"

// Needs implements Format.
func (f FileBased) Needs(name string) bool { return f.Named || isFileBased(name) }

// isFileBased reports whether Detect takes a file with this name for a file of such a catalog.
func isFileBased(name string) bool {
	return yamlnode.IsYAMLOrJSON(name) || path.Base(name) == filebased.IgnoreFile
}

// Load implements Format.
func (f FileBased) Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	if IsBundle(fsys) { // so opm takes it
		return nil, errBundle()
	}
	if err := f.checkFiles(ctx, fsys); err != nil {
		return nil, err
	}
	loaded, err := filebased.Load(ctx, fsys)
	if err != nil {
		return nil, err
	}
	var found violation.Report
	catalog := &Catalog{}
	for _, one := range loaded.Packages {
		checkNames(one, &found)
		application := newPackage(one)
		catalog.kept += application.Content.Size()
		catalog.Applications = append(catalog.Applications, application)
	}
	if len(catalog.Applications) == 0 {
		found.Add(".", noPackage)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return catalog, nil
}

// checkFiles refuses files that Needs leaves out: OLM reads them.
func (f FileBased) checkFiles(ctx context.Context, fsys fs.FS) error {
	files, err := filebased.Paths(ctx, fsys)
	if err != nil {
		return err
	}
	var found violation.Report
	if !slices.ContainsFunc(files, f.Needs) {
		found.Add(".", noPackage)
		return found.Err()
	}
	for _, name := range files {
		if !f.Needs(name) {
			found.Add(name, "is part of the file-based catalog, but has no name such as x.yaml or x.json: set format: FileBased to read it, or list it in %s", filebased.IgnoreFile)
		}
	}
	return found.Err()
}

// checkNames reports what is too long for conditions and the API, which repeat it.
func checkNames(one *filebased.Package, found *violation.Report) {
	check := func(blob *filebased.Blob, what, name string) {
		if len(name) > maxVersion {
			found.AddTo(violation.RuleFormat, blob.Path, blob.Line, "the name of the %s %s is longer than %d bytes", what, excerpt.Quoted(name), maxVersion)
		}
	}
	for _, channel := range one.Channels {
		check(channel.Blob, "channel", channel.Name)
	}
	for _, bundle := range one.Bundles {
		check(bundle.Blob, "bundle", bundle.Name)
	}
}

// IsBundle reports whether a tree of files is a bundle of an operator, which is no catalog: opm tells them apart by the same
// directories.
func IsBundle(fsys fs.FS) bool {
	for _, name := range []string{"manifests", "metadata"} {
		if info, err := fs.Stat(fsys, name); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// errBundle is the error for a bundle in place of a catalog.
func errBundle() error {
	return violation.Invalid(".", "is a bundle of an operator (manifests and metadata), and no catalog: winnow import BUNDLE... -o CATALOG makes one of bundles")
}
