// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// MaxFile bounds a file in bytes, and maxFiles the files of a catalog: a parsed byte may take a hundred.
	MaxFile  = 1 << 20
	maxFiles = 1000
	// maxEntries bounds the files and directories that are looked through.
	maxEntries = 100_000
	// maxFunctions bounds the entries of a catalog.
	maxFunctions = 10_000
)

// Load reads the catalogs of all YAML files that are not hidden. If a file is no catalog, it returns an *InvalidError
// with all errors; otherwise the error comes from fsys or ctx. Catalog.Violations has the errors of single functions.
func Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	files, err := yamlFiles(ctx, fsys)
	if err != nil {
		return nil, err
	}
	return load(ctx, fsys, ".", files)
}

// LoadFile is Load of one file, whatever its name.
func LoadFile(ctx context.Context, fsys fs.FS, name string) (*Catalog, error) {
	return load(ctx, fsys, name, []string{name})
}

func load(ctx context.Context, fsys fs.FS, whole string, files []string) (*Catalog, error) {
	l := &loader{catalog: &Catalog{invalid: map[string]*InvalidError{}}, names: map[string]*Function{}}
	l.path = whole
	if len(files) > maxFiles {
		l.refuse(0, "has %d YAML files, more than %d", len(files), maxFiles)
		files = files[:maxFiles]
	}
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := l.file(fsys, name); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if l.path = whole; l.documents == 0 && len(l.errors.Kept) == 0 {
		l.refuse(0, "holds no catalog of functions: expected YAML with the kind %s of %s", kindNames, APIVersion)
	}
	if len(l.errors.Kept) > 0 {
		return nil, &InvalidError{l.ordered(files)}
	}
	l.catalog.Warnings = l.warnings
	return l.catalog, nil
}

// ordered returns the errors of files and of functions, in the order of the files.
func (l *loader) ordered(files []string) finding.Findings {
	all := l.errors
	all.AddAll(maxFindings, l.catalog.Violations)
	slices.SortStableFunc(all.Kept, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(files, a.Path), slices.Index(files, b.Path)), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// yamlFiles returns the paths of the YAML files that are not hidden, sorted.
func yamlFiles(ctx context.Context, fsys fs.FS) (files []string, _ error) {
	seen := 0
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		seen++
		switch {
		case err != nil:
			return err
		case seen > maxEntries:
			return fmt.Errorf("it has more than %d files and directories: name the file of the catalog", maxEntries)
		case ctx.Err() != nil:
			return ctx.Err()
		case hidden && entry.IsDir():
			return fs.SkipDir
		case !hidden && !entry.IsDir() && yamlnode.IsYAMLOrJSON(name):
			files = append(files, name)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

type loader struct {
	report
	catalog *Catalog
	// documents is the number of catalogs.
	documents int
	// names maps the names of functions, in lower case, to their first entries.
	names map[string]*Function
	// text of the file.
	text *yamledit.Text
	// functions is the number of entries.
	functions int
}

func (l *loader) file(fsys fs.FS, name string) error {
	l.path = name
	data, err := bounded.ReadFile(fsys, name, MaxFile)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		l.refuse(0, "must be a regular file")
		return nil
	case errors.Is(err, bounded.ErrTooLarge):
		l.refuse(0, "is larger than %d bytes", MaxFile)
		return nil
	case err != nil:
		return err
	case !utf8.Valid(data):
		l.refuse(0, "must be UTF-8")
		return nil
	}
	l.text = yamledit.NewText(data)
	for document, err := range yamlnode.Documents(data) {
		if err != nil {
			line, message := yamlnode.Position(err, data)
			l.refuse(line, "is not valid YAML: %s", message)
			return nil
		}
		l.document(document.Content[0])
	}
	return nil
}

// document reads a catalog.
func (l *loader) document(content *yaml.Node) {
	size, ok := yamlnode.Check(content, yamlnode.MaxAliased, l.refuse)
	switch {
	case !ok:
		return
	case size.Nodes > yamlnode.MaxNodes:
		l.refuse(content.Line, "has more than %d nodes", yamlnode.MaxNodes)
		return
	}
	root := l.object(yamlnode.Resolve(content), "the document")
	if root == nil {
		return
	}
	kind := l.kindOf(root)
	if kind == "" {
		return
	}
	l.documents++
	name := yamlnode.TextAt(root.node, "metadata", "name")
	if name == "" && kind != KindFunctionDefinition {
		l.warn(root.line, "metadata.name is missing")
	}
	root.known("apiVersion", "kind", "metadata", "spec")
	entry, ok := yamlnode.Find(root.node, "spec")
	if !ok {
		root.lack(root.line, "spec is missing", "spec")
		return
	}
	spec := l.object(entry.Value, "spec")
	switch {
	case spec == nil:
	case kind == KindFunctionDefinition:
		l.add(name, spec.node, func() ([]byte, error) { return entryOf(spec.node, dashed(l.text, spec.node)) })
	default:
		l.list(name, spec, entry.Line)
	}
}

// list reads the functions of a catalog, whose spec is in a line.
func (l *loader) list(catalog string, spec *object, line int) {
	spec.known("krmFunctions")
	list, ok := yamlnode.Find(spec.node, "krmFunctions")
	if !ok {
		spec.lack(line, "spec.krmFunctions is missing", "krmFunctions")
		return
	}
	for i, element := range spec.elements(list) {
		l.add(catalog, element, func() ([]byte, error) { return entryOf(element, listed(l.text, list.Value, i)) })
	}
}

// kindOf returns the kind of a document; empty after it has reported one that is no catalog.
func (l *loader) kindOf(root *object) string {
	apiVersion, kind := yamlnode.TextAt(root.node, "apiVersion"), yamlnode.TextAt(root.node, "kind")
	switch {
	case IsKind(apiVersion, kind):
		return kind
	case apiVersion == "" && kind == "":
		l.refuse(root.line, "has neither apiVersion nor kind: expected %s of %s", kindNames, APIVersion)
	case kind == "Kustomization":
		l.refuse(root.line, "is a Kustomization: winnow functions resolve reads its directory; expected %s of %s", kindNames, APIVersion)
	case kind == "Composition":
		l.refuse(root.line, "is a Composition, which kustomize does not build: write each of its modules as a config that a kustomization names in transformers, and pass the catalogs by --catalog")
	default:
		l.refuse(root.line, "is %s of %s: expected %s of %s", quote(kind), quote(apiVersion), kindNames, APIVersion)
	}
	return ""
}

// add adds a function, unless an earlier function has its name. entry returns the text of the function. A violation
// makes this function invalid, and no other.
func (l *loader) add(catalog string, element *yaml.Node, entry func() ([]byte, error)) {
	if l.functions++; l.functions > maxFunctions {
		if l.functions == maxFunctions+1 {
			l.refuse(element.Line, "is one function more than the %d that a catalog may have", maxFunctions)
		}
		return
	}
	before := l.errors
	l.errors = finding.Findings{}
	if f := l.function(element); f != nil {
		f.Catalog, f.Path = catalog, l.path
		l.place(f, entry)
	}
	l.catalog.Violations.AddAll(maxFindings, l.errors)
	l.errors = before
}

// place gives a function its name in the catalog, unless an earlier one has it. One whose name differs only in the case of
// letters is an error.
func (l *loader) place(f *Function, entry func() ([]byte, error)) {
	folded := strings.ToLower(f.Name())
	first := l.names[folded]
	if first != nil && first.Name() == f.Name() {
		l.warn(f.Line, "has the function %s again, which is not used: the first one is in %s:%d", f.Name(), first.Path, first.Line)
		return
	}
	if first != nil { // people do not see which of the two runs
		l.refuse(f.Line, "the function %s differs only in case from %s of %s:%d", quote(f.Name()), quote(first.Name()), first.Path, first.Line)
	} else {
		l.names[folded] = f
	}
	if len(l.errors.Kept) == 0 {
		var err error
		if f.Entry, err = entry(); err != nil {
			l.refuse(f.Line, "the function %s: %v", f.Name(), err)
		}
	}
	if len(l.errors.Kept) > 0 {
		l.catalog.invalid[f.Name()] = &InvalidError{l.errors}
		return
	}
	l.catalog.Functions = append(l.catalog.Functions, f)
}
