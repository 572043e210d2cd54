package functions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxVisits bounds the directories that are entered, maxEntries the elements of their lists, and maxConfigs the
	// configs, each of which costs a few readings of its file.
	maxVisits  = 2000
	maxEntries = 100_000
	maxConfigs = 1000
)

// walk finds the configs of the functions of a kustomization and of its bases, in the order in which kustomize reads them.
type walk struct {
	problems

	files *files
	// root is the path of the root, as people reach it.
	root  string
	notes []string
	// remote are the bases that are not fetched.
	remote []Problem
	// layers in the order in which they are entered first.
	layers  []*layer
	configs []*config
	// opened maps directories to their kustomizations.
	opened map[string]*layer
	// done has the directories that were entered, with the layer whose configs they hold; stack are those that are
	// being entered.
	done  map[visit]bool
	stack []string
	// entries is the number of elements that were looked up.
	entries int
	// found maps configs to those in configs.
	found map[place]*config
}

// newWalk returns a walk through a root, whose path is the one by which people reach it.
func newWalk(root *os.Root, path string) *walk {
	return &walk{files: newFiles(root), root: path, opened: map[string]*layer{}, done: map[visit]bool{}, found: map[place]*config{}}
}

// visit is a directory, and the directory of the layer that uses its objects as configs; empty for none.
type visit struct{ dir, user string }

// show returns a path below the root as people reach it.
func (w *walk) show(name string) string { return filepath.ToSlash(filepath.Join(w.root, name)) }

// enter reads the kustomization of a directory. user is the layer whose configs its resources are, or nil. at and line
// are the file that names the directory.
func (w *walk) enter(ctx context.Context, dir string, user *layer, at string, line int) error {
	key := visit{dir: dir}
	if user != nil {
		key.user = user.dir
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case slices.Contains(w.stack, dir):
		w.add(w.show(at), line, "%s is a base of itself", w.show(dir))
		return nil
	case w.done[key]:
		return nil
	case len(w.done) == maxVisits:
		w.add(w.show(at), line, "is one base too many: kustomizations with more than %d are not read", maxVisits)
		return nil
	}
	w.done[key] = true
	l, err := w.layer(dir)
	var unreadable *unreadableError
	if errors.As(err, &unreadable) {
		w.add(w.show(unreadable.problem.Path), unreadable.problem.Line, "%s", unreadable.problem.Message)
		return nil
	}
	if err != nil {
		w.add(w.show(at), line, "the directory %s %v", w.show(dir), err)
		return nil
	}
	if user != nil {
		w.checkUnchanged(l)
	}
	w.stack = append(w.stack, dir)
	defer func() { w.stack = w.stack[:len(w.stack)-1] }()
	for _, one := range l.entries(&w.problems, w.show, "resources", "bases", "components") {
		if err := w.base(ctx, l, one, user); err != nil {
			return err
		}
	}
	for _, one := range l.entries(&w.problems, w.show, "generators", "transformers", "validators") {
		if err := w.functions(ctx, l, one); err != nil {
			return err
		}
	}
	return nil
}

// checkUnchanged reports the fields of a directory of configs that make or change configs while kustomize builds: what would
// run then is not what was resolved.
func (w *walk) checkUnchanged(l *layer) {
	harmless := []string{"apiVersion", "kind", "metadata", "resources", "bases", "components", catalogsField, "namePrefix", "nameSuffix", "namespace"}
	for _, field := range yamlnode.Entries(l.root) {
		if !slices.Contains(harmless, field.Name) {
			w.add(w.show(l.file), field.Line, "%s may change the configs of functions while kustomize builds: write what it does into the configs", excerpt.Quoted(field.Name))
		}
	}
}

// layer returns the kustomization of a directory.
func (w *walk) layer(dir string) (*layer, error) {
	if l := w.opened[dir]; l != nil {
		return l, nil
	}
	l, err := open(w.files, dir)
	if err != nil {
		return nil, err
	}
	for _, one := range l.entries(&w.problems, w.show, catalogsField) {
		l.catalogs = append(l.catalogs, named{one.text, one.line})
	}
	w.opened[dir] = l
	w.layers = append(w.layers, l)
	return l, nil
}

// base enters a directory of resources, bases or components. Files matter only where a layer uses them as configs.
func (w *walk) base(ctx context.Context, l *layer, one entry, user *layer) error {
	name, info, ok := w.find(l, one, user != nil)
	switch {
	case !ok:
		return ctx.Err()
	case info.IsDir():
		return w.enter(ctx, name, user, l.file, one.line)
	case user != nil:
		w.read(name, user, l.file, one.line)
	}
	return nil
}

// functions finds the configs of an entry of generators, transformers or validators.
func (w *walk) functions(ctx context.Context, l *layer, one entry) error {
	if isInline(one.text) {
		w.documents(place{file: l.file, field: one.field, item: one.index}, []byte(one.text), one.first, l)
		return nil
	}
	name, info, ok := w.find(l, one, true)
	switch {
	case !ok:
		return ctx.Err()
	case info.IsDir():
		return w.enter(ctx, name, l, l.file, one.line)
	}
	w.read(name, l, l.file, one.line)
	return nil
}

// find returns what an entry names, which may be configs. It reports what is missing, and what is remote: that is not
// fetched. Kustomize takes a directory with the name of a repository for the repository, and a file with the name of an
// address for the address.
func (w *walk) find(l *layer, one entry, isConfig bool) (name string, info fs.FileInfo, ok bool) {
	if w.entries++; w.entries > maxEntries {
		w.add(w.show(l.file), one.line, "%s has one element too many: more than %d are not read", one.field, maxEntries)
		return "", nil, false
	}
	name, err := join(l.dir, one.text)
	if err == nil {
		info, err = w.files.stat(name)
	}
	isAddress := krmfunctions.IsRemote(one.text)
	isRemote := isAddress || looksRemote(one.text)
	switch {
	case err == nil && !isAddress && (!isRemote || !info.IsDir()):
		return name, info, true
	case isConfig && isRemote:
		w.add(w.show(l.file), one.line, "%s %s is remote and not fetched: keep the configs of functions in the directory", one.field, excerpt.Quoted(one.text))
	case isRemote:
		w.remote = append(w.remote, Problem{w.show(l.file), one.line, excerpt.Quoted(one.text) + " is remote and not fetched"})
	case errors.Is(err, fs.ErrNotExist):
		w.add(w.show(l.file), one.line, "%s %s does not exist", one.field, excerpt.Quoted(one.text))
	default:
		w.add(w.show(l.file), one.line, "%s %s %v", one.field, excerpt.Quoted(one.text), err)
	}
	return "", nil, false
}

// read finds the configs of a file.
func (w *walk) read(name string, user *layer, at string, line int) {
	content, err := w.files.read(name)
	if err != nil {
		w.add(w.show(at), line, "%s %v", excerpt.Quoted(path.Base(name)), strings.TrimPrefix(err.Error(), "read "))
		return
	}
	w.documents(place{file: name}, content, 1, user)
}

// documents finds the configs in the text of a file or of an element, which begins in a line of its file.
func (w *walk) documents(at place, text []byte, line int, user *layer) {
	if number, problem := ambiguous(text); problem != "" {
		w.add(w.show(at.file), line+number, "the config of a function %s", problem)
		return
	}
	for i, piece := range document.Split(text) {
		at.document = i
		if known := w.found[at]; known != nil {
			known.users = append(known.users, user)
			continue
		}
		if len(w.configs) == maxConfigs {
			w.add(w.show(at.file), line, "has one config too many: more than %d are not read", maxConfigs)
			return
		}
		c, err := readConfig(piece.Data)
		var broken *lineError
		switch {
		case errors.As(err, &broken):
			w.add(w.show(at.file), line+piece.Above+broken.line-1, "the config of a function is not readable: %s", broken.message)
			continue
		case err != nil:
			w.add(w.show(at.file), line+piece.Above, "the config of a function %v", err)
			continue
		case c == nil:
			continue
		}
		c.place, c.users = at, []*layer{user}
		c.line += line + piece.Above - 1
		w.found[at] = c
		w.configs = append(w.configs, c)
	}
}

func (w *walk) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}
