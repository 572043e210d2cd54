package catalog

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Names of the Applications format.
const (
	applicationsDirectory = "applications"
	listsDirectory        = "catalogs"
	applicationFile       = "application.yaml"
	metadataFile          = "metadata.yaml"
)

// applications loads the Applications format:
//
//	applications/<dir>/application.yaml   one object of kind ApplicationDefinition
//	applications/<dir>/metadata.yaml      optional: tier, labels, annotations, deprecated, versions, others
//	catalogs/<name>/metadata.yaml         optional: applications: [names]
//
// Without applications/ at the root, as a source that stripped it delivers the catalog, every
// directory of the root that holds an application.yaml is an application. Hidden directories
// and files beside the directories are ignored.
type applications struct {
	fsys   fs.FS
	ledger ledger

	mu     sync.Mutex
	report report
}

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
		a.report.add(".", "holds no application: expected applications/<dir>/application.yaml, or <dir>/application.yaml at the root")
	}
	candidates, err := a.candidates(ctx, directories)
	if err != nil {
		return nil, err
	}
	a.distinctKinds(candidates)
	a.fewKinds(candidates)
	loaded := &Catalog{Applications: a.unique(candidates)}
	if hasDirectory(root, listsDirectory) {
		loaded.Lists, err = a.lists(ctx, newNames(candidates))
	}
	a.ledger.check(&a.report)
	loaded.kept = a.ledger.kept.Load()
	return loaded, err
}

// directories returns those that are applications, sorted.
func (a *applications) directories(root []fs.DirEntry) ([]string, error) {
	if hasDirectory(root, applicationsDirectory) {
		return a.children(applicationsDirectory)
	}
	var found []string
	for _, entry := range root {
		name := entry.Name()
		if !entry.IsDir() || isHidden(name) || name == listsDirectory {
			continue
		}
		exists, err := a.exists(path.Join(name, applicationFile))
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

func (a *applications) exists(name string) (bool, error) {
	_, err := fs.Stat(a.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// candidate is a directory that should be an application.
type candidate struct {
	application *Application
	nameLine    int
	err         error
}

// candidates reads all directories on all cores. What is reported does not depend on which is
// ready first.
func (a *applications) candidates(ctx context.Context, directories []string) ([]candidate, error) {
	all := make([]candidate, len(directories))
	err := parallel(ctx, len(directories), func(i int) {
		all[i] = a.candidate(directories[i])
	})
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.err != nil {
			return nil, one.err
		}
	}
	return all, nil
}

func (a *applications) candidate(directory string) candidate {
	definition := findings{path: path.Join(directory, applicationFile)}
	metadata := findings{path: path.Join(directory, metadataFile)}
	application := &Application{Path: definition.path}
	nameLine, err := a.definition(application, &definition)
	if err == nil {
		application.Metadata, err = a.metadata(&metadata)
	}
	a.mu.Lock() // at once: what all files break together would be much to keep
	defer a.mu.Unlock()
	a.report.merge(definition)
	a.report.merge(metadata)
	return candidate{application: application, nameLine: nameLine, err: err}
}

// required opens a file that must exist; it reports that there is none, and returns nil.
func (a *applications) required(bounds bounds, found *findings) (*file, error) {
	opened, err := a.open(bounds, found)
	if opened != nil || err != nil {
		return opened, err
	}
	misspelt := strings.TrimSuffix(found.path, ".yaml") + ".yml"
	exists, err := a.exists(misspelt)
	if exists {
		found.add(0, "is missing: rename %s", misspelt)
	} else {
		found.add(0, "is missing")
	}
	return nil, err
}

// unique returns the applications sorted by name and reports those that share one.
func (a *applications) unique(candidates []candidate) []*Application {
	first := make(map[string]*Application, len(candidates))
	var all []*Application
	for _, one := range candidates {
		name := one.application.Name
		if name == "" {
			continue
		}
		if other, taken := first[name]; taken {
			a.report.addTo(RuleDuplicateName, one.application.Path, one.nameLine, "metadata.name %s is taken by %s", quote(name), other.Path)
			continue
		}
		first[name] = one.application
		all = append(all, one.application)
	}
	slices.SortFunc(all, func(x, y *Application) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// parallel calls do for every index below n on as many goroutines as Go may run at once. It stops
// early when the context ends, and returns its error.
func parallel(ctx context.Context, n int, do func(int)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}
