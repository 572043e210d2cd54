// SPDX-License-Identifier: Apache-2.0

package configs

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

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Bounds of a walk: the directories that are entered, the elements of their lists, and the configs. A config costs a few
// readings of its file.
const (
	maxVisits  = 2000
	MaxEntries = 100_000
	MaxConfigs = 1000
)

// maxProblems are kept.
const maxProblems = 100

// InvalidError reports what keeps functions from being resolved, in the order in which kustomize reads the files. The paths
// are those by which people reach the files. There is at least one finding.
type InvalidError struct{ finding.Findings }

// Error lists all of them.
func (e *InvalidError) Error() string {
	return excerpt.Clauses(e.Kept, len(e.Kept), e.Omitted, finding.Finding.String)
}

// Walk finds the configs of the functions of a kustomization and of its bases, in the order in which kustomize reads them.
type Walk struct {
	Files *workspace.Files
	// root is the path of the root, as people reach it.
	root  string
	Notes []string
	// Remote are the bases that are not fetched, by paths below the root.
	Remote []finding.Finding
	// Layers in the order in which they are entered first.
	Layers  []*Layer
	Configs []*Config
	// Opened maps directories to their kustomizations.
	Opened map[string]*Layer
	// done has the entered directories, with the layer whose configs they hold; stack has the directories that are being
	// entered.
	done  map[visit]bool
	stack []string
	// seen is the number of elements that were looked up.
	seen int
	// found maps the places of configs to them.
	found map[configLocation]*Config
	// problems, and reported, which has them and is false for the omitted ones.
	problems finding.Findings
	reported map[finding.Finding]bool
}

// NewWalk returns a walk through a root. Messages show its files below path.
func NewWalk(root *os.Root, path string) *Walk {
	return &Walk{
		Files: workspace.NewFiles(root), root: path, Opened: map[string]*Layer{}, done: map[visit]bool{}, found: map[configLocation]*Config{},
		reported: map[finding.Finding]bool{},
	}
}

// visit is a directory, and the directory of the layer that uses its objects as configs; empty for none.
type visit struct{ dir, user string }

// Show returns a path below the root for messages.
func (w *Walk) Show(name string) string { return filepath.ToSlash(filepath.Join(w.root, name)) }

// Add adds a problem in a file below the root, which is formatted as by fmt.Sprintf. It adds each once: a base may be used more
// than once.
func (w *Walk) Add(file string, line int, format string, args ...any) {
	one := finding.Finding{Path: w.Show(file), Line: line, Message: fmt.Sprintf(format, args...)}
	if !w.reported[one] {
		w.reported[one] = len(w.problems.Kept) < maxProblems
		w.problems.Add(maxProblems, one)
	}
}

// Err returns the problems as an *InvalidError, nil without any.
func (w *Walk) Err() error {
	if len(w.problems.Kept) == 0 {
		return nil
	}
	return &InvalidError{w.problems}
}

// Enter reads the kustomization of a directory. user is the layer whose configs its resources are, or nil. at and line
// are the file that names the directory.
func (w *Walk) Enter(ctx context.Context, dir string, user *Layer, at string, line int) error {
	key := visit{dir: dir}
	if user != nil {
		key.user = user.Dir
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case slices.Contains(w.stack, dir):
		w.Add(at, line, "%s is a base of itself", w.Show(dir))
		return nil
	case w.done[key]:
		return nil
	case len(w.done) == maxVisits:
		w.Add(at, line, "is one base too many: kustomizations with more than %d are not read", maxVisits)
		return nil
	}
	w.done[key] = true
	l, err := w.layer(dir)
	if broken, ok := errors.AsType[*lineError](err); ok {
		w.Add(broken.file, broken.line, "%s", broken.message)
		return nil
	}
	if err != nil {
		w.Add(at, line, "the directory %s %v", w.Show(dir), err)
		return nil
	}
	if user != nil {
		w.checkUnchanged(l)
	}
	w.stack = append(w.stack, dir)
	defer func() { w.stack = w.stack[:len(w.stack)-1] }()
	for _, one := range w.entries(l, "resources", "bases", "components") {
		if err := w.follow(ctx, l, one, user); err != nil {
			return err
		}
	}
	for _, one := range w.entries(l, "generators", "transformers", "validators") {
		if isInline(one.Text) {
			w.documents(configLocation{File: l.File, Field: one.field, Item: one.index}, []byte(one.Text), one.first, l)
		} else if err := w.follow(ctx, l, one, l); err != nil {
			return err
		}
	}
	return nil
}

// checkUnchanged reports the fields of a directory of configs that make or change configs during a build: kustomize
// would run functions that were not resolved.
func (w *Walk) checkUnchanged(l *Layer) {
	harmless := []string{"apiVersion", "kind", "metadata", "resources", "bases", "components", CatalogsField, "namePrefix", "nameSuffix", "namespace"}
	for _, field := range yamlnode.Entries(l.Root) {
		if !slices.Contains(harmless, field.Name) {
			w.Add(l.File, field.Line, "%s may change the configs of functions while kustomize builds: write what it does into the configs", excerpt.Quoted(field.Name))
		}
	}
}

// layer returns the kustomization of a directory.
func (w *Walk) layer(dir string) (*Layer, error) {
	if l := w.Opened[dir]; l != nil {
		return l, nil
	}
	l, err := open(w.Files, dir)
	if err != nil {
		return nil, err
	}
	l.Catalogs = w.entries(l, CatalogsField)
	w.Opened[dir] = l
	w.Layers = append(w.Layers, l)
	return l, nil
}

// entries returns the elements of lists of strings in a kustomization.
func (w *Walk) entries(l *Layer, fields ...string) (all []Entry) {
	for _, field := range fields {
		list, ok := yamlnode.Find(l.Root, field)
		if read, known := l.lists[field]; known && !slices.Equal(read, scalars(list.Value)) {
			w.Add(l.File, max(list.Line, l.Root.Line), "kustomize reads other %s here: write the field once, in lower case, and without <<", field)
		}
		switch {
		case !ok || yamlnode.IsNull(list.Value):
			continue
		case list.Value.Kind != yaml.SequenceNode:
			w.Add(l.File, list.Line, "%s must be a list, not %s", field, yamlnode.Describe(list.Value))
			continue
		}
		for i, element := range list.Value.Content {
			text, isText := yamlnode.Text(yamlnode.Resolve(element))
			if !isText || text == "" {
				w.Add(l.File, element.Line, "%s has %s: expected a path", field, yamlnode.Describe(yamlnode.Resolve(element)))
				continue
			}
			one := Entry{Text: text, Line: element.Line, field: field, index: i, first: element.Line}
			if yamlnode.Resolve(element).Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				one.first++ // below the | or >
			}
			all = append(all, one)
		}
	}
	return all
}

// scalars returns the elements of a list as texts.
func scalars(list *yaml.Node) (texts []string) {
	if list != nil {
		for _, element := range list.Content {
			texts = append(texts, yamlnode.Resolve(element).Value)
		}
	}
	return texts
}

// follow enters the directory, or reads the file, that an entry names. user is the layer that uses its objects as configs; without
// one, files do not matter.
func (w *Walk) follow(ctx context.Context, l *Layer, one Entry, user *Layer) error {
	name, info, ok := w.find(l, one, user != nil)
	switch {
	case !ok:
		return ctx.Err()
	case info.IsDir():
		return w.Enter(ctx, name, user, l.File, one.Line)
	case user != nil:
		w.read(name, user, l.File, one.Line)
	}
	return nil
}

// find returns the files or directories that an entry names, which may contain configs. It reports missing entries, and
// remote ones, which are not fetched. Like kustomize, it takes a directory with the name of a repository for the
// repository, and a file with the name of an address for the address.
func (w *Walk) find(l *Layer, one Entry, isConfig bool) (name string, info fs.FileInfo, ok bool) {
	if w.seen++; w.seen > MaxEntries {
		w.Add(l.File, one.Line, "%s has one element too many: more than %d are not read", one.field, MaxEntries)
		return "", nil, false
	}
	name, err := workspace.Join(l.Dir, one.Text)
	if err == nil {
		info, err = w.Files.Stat(name)
	}
	isAddress := krmfunctions.IsRemote(one.Text)
	isRemote := isAddress || LooksRemote(one.Text)
	switch {
	case err == nil && !isAddress && (!isRemote || !info.IsDir()):
		return name, info, true
	case isConfig && isRemote:
		w.Add(l.File, one.Line, "%s %s is remote and not fetched: keep the configs of functions in the directory", one.field, excerpt.Quoted(one.Text))
	case isRemote:
		w.Remote = append(w.Remote, finding.Finding{Path: l.File, Line: one.Line, Message: excerpt.Quoted(one.Text) + " is remote and not fetched"})
	case errors.Is(err, fs.ErrNotExist):
		w.Add(l.File, one.Line, "%s %s does not exist", one.field, excerpt.Quoted(one.Text))
	default:
		w.Add(l.File, one.Line, "%s %s %v", one.field, excerpt.Quoted(one.Text), err)
	}
	return "", nil, false
}

// read finds the configs of a file.
func (w *Walk) read(name string, user *Layer, at string, line int) {
	content, err := w.Files.Read(name)
	if err != nil {
		w.Add(at, line, "%s %v", excerpt.Quoted(path.Base(name)), strings.TrimPrefix(err.Error(), "read "))
		return
	}
	w.documents(configLocation{File: name}, content, 1, user)
}

// documents finds the configs in the text of a file or of an element, which begins in a line of its file.
func (w *Walk) documents(at configLocation, text []byte, line int, user *Layer) {
	if number, problem := ambiguous(text); problem != "" {
		w.Add(at.File, line+number, "the config of a function %s", problem)
		return
	}
	for i, piece := range document.Split(text) {
		at.Document = i
		if known := w.found[at]; known != nil {
			known.Users = append(known.Users, user)
			continue
		}
		if len(w.Configs) == MaxConfigs {
			w.Add(at.File, line, "has one config too many: more than %d are not read", MaxConfigs)
			return
		}
		c, err := readConfig(piece.Data)
		switch broken, ok := errors.AsType[*lineError](err); {
		case ok:
			w.Add(at.File, line+piece.Above+broken.line-1, "the config of a function is not readable: %s", broken.message)
			continue
		case err != nil:
			w.Add(at.File, line+piece.Above, "the config of a function %v", err)
			continue
		case c == nil:
			continue
		}
		c.configLocation, c.Users = at, []*Layer{user}
		c.Line += line + piece.Above - 1
		w.found[at] = c
		w.Configs = append(w.Configs, c)
	}
}

// Note adds a note, which is formatted as by fmt.Sprintf.
func (w *Walk) Note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}
