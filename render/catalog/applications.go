// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Applications is the format of the catalog contract:
//
//	applications/<dir>/application.yaml   one object of kind ApplicationDefinition
//	applications/<dir>/metadata.yaml      optional: tier, labels, annotations, deprecated, versions, others
//	catalogs/<name>/metadata.yaml         optional: applications: [names]
//
// Without applications/ at the root, as a source that stripped it delivers the catalog, every
// directory of the root that holds an application.yaml is an application. Hidden directories
// and files beside the directories are ignored.
type Applications struct{}

// Name implements Format.
func (Applications) Name() string { return v1alpha1.FormatApplications }

// Detect reports whether there is applications/ at the root, or a directory with an application.yaml.
func (Applications) Detect(fsys fs.FS) (bool, error) {
	root, err := fs.ReadDir(fsys, ".")
	if err != nil || hasDirectory(root, ApplicationsDirectory) {
		return err == nil, err
	}
	stripped, err := StrippedDirectories(fsys, root)
	return len(stripped) > 0, err
}

// Needs implements Format.
func (Applications) Needs(name string) bool {
	directory, file := path.Split(name)
	switch strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") {
	case "application", "metadata":
	default:
		return false
	}
	switch parts := strings.Split(strings.TrimSuffix(directory, "/"), "/"); len(parts) {
	case 1: // where a source stripped the directory of applications
		return parts[0] != ""
	case 2:
		return parts[0] == ApplicationsDirectory || parts[0] == ListsDirectory
	}
	return false
}

// Load implements Format.
func (f Applications) Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	return f.loadCached(ctx, fsys, NewParseCache(nil))
}

func (Applications) loadCached(ctx context.Context, fsys fs.FS, cache *ParseCache) (*Catalog, error) {
	a := &applications{loader{fsys: fsys, cache: cache}}
	return a.finish(a.load(ctx))
}

type applications struct{ loader }

// load returns what could be read; it is a catalog only when nothing was reported.
func (a *applications) load(ctx context.Context) (*Catalog, error) {
	root, err := fs.ReadDir(a.fsys, ".")
	if err != nil {
		return nil, err
	}
	directories, err := a.directories(root)
	if err != nil {
		return nil, err
	}
	if len(directories) == 0 {
		a.report.Add(".", "holds no application: expected applications/<dir>/application.yaml, or <dir>/application.yaml at the root; for another format, such as FileBased, set format")
	}
	candidates, err := a.candidates(ctx, len(directories), func(i int) candidate { return a.candidate(directories[i]) })
	if err != nil {
		return nil, err
	}
	loaded := a.unique(candidates)
	if hasDirectory(root, ListsDirectory) {
		loaded.Lists, err = a.lists(ctx, newNames(candidates))
	}
	return loaded, err
}

// directories returns those that are applications, sorted.
func (a *applications) directories(root []fs.DirEntry) ([]string, error) {
	if hasDirectory(root, ApplicationsDirectory) {
		return a.children(ApplicationsDirectory)
	}
	return StrippedDirectories(a.fsys, root)
}

// StrippedDirectories returns the directories of a root without applications/ that are applications, sorted.
func StrippedDirectories(fsys fs.FS, root []fs.DirEntry) ([]string, error) {
	var found []string
	for _, entry := range root {
		name := entry.Name()
		if !entry.IsDir() || isHidden(name) || name == ListsDirectory {
			continue
		}
		exists, err := exists(fsys, path.Join(name, ApplicationFile))
		if err != nil {
			return nil, err
		}
		if exists {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, nil
}

// children returns the directories in a directory. A symbolic link there is a violation, because
// ignoring it would silently remove what it stands for.
func (a *applications) children(directory string) ([]string, error) {
	entries, err := fs.ReadDir(a.fsys, directory)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		name := path.Join(directory, entry.Name())
		switch {
		case isHidden(entry.Name()):
		case entry.IsDir():
			found = append(found, name)
		case entry.Type()&fs.ModeSymlink != 0:
			a.report.Add(name, "is a symbolic link, which a catalog cannot hold")
		}
	}
	slices.Sort(found)
	return found, nil
}

func (a *applications) candidate(directory string) candidate {
	definition := violation.Findings{Path: path.Join(directory, ApplicationFile)}
	beside := violation.Findings{Path: path.Join(directory, MetadataFile)}
	application := &Application{Path: definition.Path}
	data, err := a.file(maxDocument, true, &definition)
	files := a.read(data, application, &definition)
	if err == nil {
		data, err = a.file(maxMetadata, false, &beside)
	}
	if data != nil && err == nil {
		if files.metadata = a.readMetadata(data, &beside); files.metadata != nil {
			application.Metadata = files.metadata.content
		}
	}
	a.merge(definition, beside)
	return candidate{application: application, files: files, err: err}
}

// droppedLink is the cause of a missing file that neither the catalog's repository nor the cluster shows: source-controller
// leaves links out of what it extracts.
const droppedLink = "; if it is a symbolic link, which Flux drops, store the file itself"

// file returns the bytes of a file, nil without one, and reports one that is required, or misspelt: without the tier in its
// metadata.yaml an application would silently leave selections.
func (a *applications) file(limit int, required bool, found *violation.Findings) ([]byte, error) {
	data, err := document.Read(a.fsys, limit, found)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	misspelt := strings.TrimSuffix(found.Path, ".yaml") + ".yml"
	exists, err := exists(a.fsys, misspelt)
	switch {
	case exists:
		found.Add(0, "is missing: rename %s", misspelt)
	case required:
		found.Add(0, "is missing%s", droppedLink)
	}
	return nil, err
}

// read reads the bytes of a definition, nil without any, into application.
func (l *loader) read(data []byte, application *Application, found *violation.Findings) parsedFiles {
	if data == nil {
		return parsedFiles{}
	}
	if known, ok := l.reuse(data, application); ok {
		return known
	}
	parsed := l.parse(data, yamlnode.MaxAliased, found)
	return parsedFiles{nameLine: l.definition(parsed, application, found), aliased: parsed.Size.Aliased}
}

// readMetadata reads the bytes of a metadata.yaml; nil without metadata that may stay in memory.
func (l *loader) readMetadata(data []byte, found *violation.Findings) *metadataFile {
	read := l.cache.metadataFile(data, found.Path)
	if read != nil {
		l.ledger.aliased.Add(int64(read.size.Aliased))
	} else {
		opened := l.parse(data, maxMetadataAliased, found)
		if opened.Root == nil {
			return nil
		}
		read = &metadataFile{sha256.Sum256(data), metadata.Parse(opened.Root, found), opened.Size}
	}
	if !l.ledger.keep(read.size.Nodes*nodeBytes + read.size.Bytes) {
		return nil
	}
	return read
}

// lists reads catalogs/<name>/metadata.yaml of every name.
func (a *applications) lists(ctx context.Context, known names) (map[string][]string, error) {
	directories, err := a.children(ListsDirectory)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]string, len(directories))
	for _, directory := range directories {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found := violation.Findings{Path: path.Join(directory, MetadataFile)}
		data, err := a.file(maxDocument, true, &found)
		if err != nil {
			return nil, err
		}
		if data != nil {
			if opened := a.parse(data, maxMetadataAliased, &found); opened.Root != nil {
				list := parseList(opened.Root, known, &found)
				if a.ledger.keep(len(list)*textBytes + nodeBytes) {
					all[path.Base(directory)] = list
				}
			}
		}
		a.report.Merge(found)
	}
	return all, nil
}
