// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxDefinitionsFile bounds a file in bytes, as a file of an archive is bounded.
	maxDefinitionsFile = 8 << 20
	// maxDefinitions bounds the documents of a catalog: the smallest have few bytes, and each is checked.
	maxDefinitions = 20_000
)

// Definitions is the format of directories of YAML files whose documents are ApplicationDefinitions, at any
// depth, one or several a file: as vendors keep them. Files of other names and hidden ones are ignored. The
// object's own labels and annotations stand for the ones in a metadata.yaml, and its label
// catalog.winnow.dev/tier for the tier.
type Definitions struct{}

// Name implements Format.
func (Definitions) Name() string { return v1alpha1.FormatDefinitions }

// definitionLine begins the member of a document, outside of flow style, that describes what it is.
var definitionLine = regexp.MustCompile(`(?m)^kind:[ \t]+["']?(?:` + definition.Kind + `|` + formerKind + `)["']?[ \t]*(?:#.*)?\r?$`)

func hasDefinition(data []byte) bool {
	return bytes.Contains(data, []byte("Definition")) && definitionLine.Match(data)
}

// Detect reports whether a line of a file reports that a document is an ApplicationDefinition, or what was one in Cozystack. It
// ignores the files of Applications, and all files of a tree with the directory of that format.
func (Definitions) Detect(fsys fs.FS) (bool, error) {
	root, err := fs.ReadDir(fsys, ".")
	if err != nil || hasDirectory(root, ApplicationsDirectory) {
		return false, err
	}
	return anyFile(fsys, maxDefinitionsFile,
		func(name string) bool { return Definitions{}.Needs(name) && !Applications{}.Needs(name) },
		hasDefinition)
}

// Needs implements Format.
func (Definitions) Needs(name string) bool { return yamlnode.IsYAML(name) && !isBelowHidden(name) }

// Load implements Format.
func (f Definitions) Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	return f.loadCached(ctx, fsys, NewParseCache(nil))
}

func (Definitions) loadCached(ctx context.Context, fsys fs.FS, cache *ParseCache) (*Catalog, error) {
	d := &definitions{loader{fsys: fsys, cache: cache}}
	loaded, err := d.finish(d.load(ctx))
	invalid, ok := errors.AsType[*violation.InvalidError](err)
	if !ok {
		return loaded, err
	}
	if misplaced := misplacedApplications(fsys); misplaced != nil {
		return nil, misplaced // each file below it would be a violation of this format
	}
	return nil, besideDefinitions(fsys, invalid)
}

// misplacedApplications returns an *InvalidError for a tree that has the files of the format Applications at another place
// than in the directory of that format: in one with another name, a directory deeper, or without it. It returns nil for
// a tree without them.
func misplacedApplications(fsys fs.FS) error {
	root, err := fs.ReadDir(fsys, ".")
	if err != nil || hasDirectory(root, ApplicationsDirectory) {
		return err
	}
	if one, err := hasBothFiles(fsys, "."); err != nil {
		return err
	} else if one {
		return violation.Invalid(".", "is the directory of one application: name the directory that has %s in it", ApplicationsDirectory)
	}
	for _, entry := range root {
		name := entry.Name()
		if !entry.IsDir() || isHidden(name) || name == ListsDirectory {
			continue
		}
		if found, err := hasApplications(fsys, name); err != nil {
			return err
		} else if found {
			return violation.Invalid(name, "has <dir>/%s and <dir>/%s, as the directory %s of a catalog has: rename it to %[3]s",
				ApplicationFile, MetadataFile, ApplicationsDirectory)
		}
		if found, err := hasApplications(fsys, path.Join(name, ApplicationsDirectory)); err != nil {
			return err
		} else if found {
			return violation.Invalid(name, "has the directory %s: the catalog is what lies in it, so name or pack that, or set path of the source", ApplicationsDirectory)
		}
	}
	return nil
}

// hasApplications reports whether a directory, which may be missing, has one with both files of an application.
func hasApplications(fsys fs.FS, directory string) (bool, error) {
	children, err := fs.ReadDir(fsys, directory)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, child := range children {
		if child.IsDir() && !isHidden(child.Name()) && err == nil {
			if found, err := hasBothFiles(fsys, path.Join(directory, child.Name())); found || err != nil {
				return found, err
			}
		}
	}
	return false, err
}

func hasBothFiles(fsys fs.FS, directory string) (bool, error) {
	for _, file := range []string{ApplicationFile, MetadataFile} {
		if found, err := exists(fsys, path.Join(directory, file)); !found || err != nil {
			return false, err
		}
	}
	return true, nil
}

type definitions struct{ loader }

func (d *definitions) load(ctx context.Context) (*Catalog, error) {
	files, err := Definitions{}.Files(d.fsys)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		d.report.Add(".", "holds no YAML file: expected files of ApplicationDefinitions")
	}
	var documents []placed
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := d.documents(name)
		if err != nil {
			return nil, err
		}
		if documents = append(documents, more...); len(documents) > maxDefinitions {
			d.report.Add(name, "has more documents than the %d that a catalog may have, together with the files before it", maxDefinitions)
			documents = slices.Clone(documents[:maxDefinitions]) // each of the others takes a hundred times its bytes
			break
		}
	}
	candidates, err := d.candidates(ctx, len(documents), func(i int) candidate { return d.candidate(documents[i]) })
	if err != nil {
		return nil, err
	}
	return d.unique(candidates), nil
}

// placed is a document of a file.
type placed struct {
	path string
	document.Piece
}

// documents returns the documents of a file, and reports a file without any.
func (d *definitions) documents(name string) ([]placed, error) {
	found := violation.Findings{Path: name}
	defer func() { d.merge(found) }()
	data, err := document.Read(d.fsys, maxDefinitionsFile, &found)
	if data == nil || err != nil {
		return nil, err
	}
	pieces := document.Split(data)
	if len(pieces) == 0 {
		found.Add(0, "is empty: expected documents of kind %s", definition.Kind)
	}
	documents := make([]placed, len(pieces))
	outside := len(data)
	for i, piece := range pieces {
		documents[i] = placed{name, piece}
		outside -= len(piece.Data)
	}
	d.ledger.keep(outside) // the documents keep the whole file in memory
	return documents, nil
}

func (d *definitions) candidate(from placed) candidate {
	found := violation.Findings{Path: from.path, Above: from.Above}
	application := &Application{Path: from.path, Above: from.Above}
	files := d.read(from.Data, application, &found)
	application.Metadata = ownMetadata(application)
	d.merge(found)
	return candidate{application: application, files: files}
}

func (d *definitions) read(data []byte, application *Application, found *violation.Findings) (l parsedFiles) {
	if len(data) > maxDocument {
		found.Add(1, "is the first line of a document that is larger than %d bytes", maxDocument)
		return l
	}
	if known, ok := d.reuse(data, application); ok {
		return known
	}
	parsed := d.parse(data, yamlnode.MaxAliased, found)
	l.aliased = parsed.Size.Aliased
	if parsed.Root == nil {
		return l
	}
	kind := yamlnode.Lookup(parsed.Root, "kind")
	switch text, _ := yamlnode.Text(kind); {
	case kind == nil:
		found.Add(parsed.Root.Line, "is no %s: name the files of the catalog by include", definition.Kind)
	case text == formerKind:
		found.Add(kind.Line, "%s", FormerKind(text))
	case text != definition.Kind:
		found.Add(kind.Line, "is a %s, not an %s: name the files of the catalog by include", excerpt.Quoted(text), definition.Kind)
	default:
		l.nameLine = d.definition(parsed, application, found)
	}
	return l
}

// ownMetadata returns what an object states about itself.
func ownMetadata(application *Application) metadata.Metadata {
	return metadata.Metadata{
		Tier: application.Labels[v1alpha1.TierLabel], Labels: application.Labels, Annotations: application.Annotations,
	}
}

// Files returns the paths of the YAML files that are not hidden, sorted.
func (Definitions) Files(fsys fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (Definitions{}).Needs(name) {
			files = append(files, name)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}

// besideDefinitions returns the error of a tree of the format Definitions with one violation for all files that
// have no definition, such as charts, where a pattern separates them from the others. Otherwise invalid stays as it is.
func besideDefinitions(fsys fs.FS, invalid *violation.InvalidError) error {
	files, err := Definitions{}.Files(fsys)
	if err != nil {
		return err
	}
	var own, others []string
	for _, name := range files {
		data, err := document.Read(fsys, maxDefinitionsFile, &violation.Findings{Path: name})
		switch {
		case err != nil:
			return err
		case hasDefinition(data):
			own = append(own, name)
		default:
			others = append(others, name)
		}
	}
	pattern := includeOf(own, others)
	if pattern == "" || len(others) == 0 {
		return invalid
	}
	advice := violation.Invalid(".", "%d of %d files have no %s, such as %s: name those that have one by include: %s",
		len(others), len(files), definition.Kind, excerpt.Quoted(others[0]), excerpt.Quoted(pattern))
	for _, one := range invalid.Violations {
		if _, beside := slices.BinarySearch(others, one.Path); !beside {
			advice.Violations = append(advice.Violations, one)
		}
	}
	return advice
}

// includeOf returns a pattern that matches all of own and none of others, empty without one.
func includeOf(own, others []string) string {
	if len(own) == 0 {
		return ""
	}
	dir, file := path.Split(own[0])
	inDir := "*" + path.Ext(file)
	for _, pattern := range []string{path.Join("**", path.Base(dir), inDir), path.Join("**", file), path.Join(dir, inDir)} {
		isFound := func(name string) bool { return doublestar.MatchUnvalidated(pattern, name) }
		if !slices.ContainsFunc(others, isFound) && !slices.ContainsFunc(own, func(name string) bool { return !isFound(name) }) {
			return pattern
		}
	}
	return ""
}
