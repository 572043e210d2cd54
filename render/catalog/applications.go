package catalog

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Names of the Applications format.
const (
	ApplicationsDirectory = "applications"
	ListsDirectory        = "catalogs"
	ApplicationFile       = "application.yaml"
	MetadataFile          = "metadata.yaml"
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
	stripped, err := strippedDirectories(fsys, root)
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
func (Applications) Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	a := &applications{loader{fsys: fsys}}
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
		a.report.add(".", "holds no application: expected applications/<dir>/application.yaml, or <dir>/application.yaml at the root; for another format, such as FileBased, set format")
	}
	candidates, err := a.candidates(ctx, len(directories), func(i int) candidate { return a.candidate(directories[i]) })
	if err != nil {
		return nil, err
	}
	loaded := &Catalog{Applications: a.unique(candidates)}
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
	return strippedDirectories(a.fsys, root)
}

// strippedDirectories returns the directories of a root without applications/ that are applications, sorted.
func strippedDirectories(fsys fs.FS, root []fs.DirEntry) ([]string, error) {
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

func hasDirectory(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return entry.IsDir() && entry.Name() == name
	})
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
			a.report.add(name, "is a symbolic link, which a catalog cannot hold")
		}
	}
	slices.Sort(found)
	return found, nil
}

func isHidden(name string) bool {
	return strings.HasPrefix(name, ".")
}

// isBelowHidden reports whether a path, or a directory above it, is hidden.
func isBelowHidden(name string) bool {
	for element := name; element != "." && element != "/"; element = path.Dir(element) {
		if isHidden(path.Base(element)) {
			return true
		}
	}
	return false
}

func (a *applications) candidate(directory string) candidate {
	definition := findings{path: path.Join(directory, ApplicationFile)}
	metadata := findings{path: path.Join(directory, MetadataFile)}
	application := &Application{Path: definition.path}
	opened, err := a.required(documentBounds(), &definition)
	nameLine := a.definition(opened, application, &definition)
	if err == nil {
		application.Metadata, err = a.metadata(&metadata)
	}
	a.merge(definition, metadata)
	return candidate{application: application, nameLine: nameLine, err: err}
}

// required opens a file that must exist; it reports that there is none, and returns nil.
func (a *applications) required(bounds bounds, found *findings) (*file, error) {
	opened, err := a.open(bounds, found)
	if opened != nil || err != nil {
		return opened, err
	}
	misspelt := strings.TrimSuffix(found.path, ".yaml") + ".yml"
	exists, err := exists(a.fsys, misspelt)
	if exists {
		found.add(0, "is missing: rename %s", misspelt)
	} else {
		found.add(0, "is missing")
	}
	return nil, err
}
