// SPDX-License-Identifier: Apache-2.0

package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// CatalogsField is the field of a kustomization that KEP-2906 proposes. Kustomize does not know it.
const CatalogsField = "catalogs"

// noComposition is the reason why a Composition of KEP-2290 is refused.
const noComposition = "which kustomize does not build: write each of its modules as a config that a kustomization names in transformers"

// Layer is a kustomization. Its functions run in its directory.
type Layer struct {
	Dir, File string
	Root      *yaml.Node
	// lists maps fields to the elements that kustomize reads.
	lists map[string][]string
	// Catalogs that it names.
	Catalogs []Entry
}

// Entry is an element of a list of a kustomization.
type Entry struct {
	Text string
	Line int

	field string
	index int
	// first is the line of the first line of a text of several lines.
	first int
}

// open reads the kustomization of a directory.
func open(f *workspace.Files, dir string) (*Layer, error) {
	var l *Layer
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		file := path.Join(dir, name)
		content, err := f.Read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("has a %s that is not readable: %w", name, err)
		case l != nil:
			return nil, fmt.Errorf("has two kustomizations, %s and %s", path.Base(l.File), name)
		}
		root, err := Parse(content)
		switch broken, ok := errors.AsType[*lineError](err); {
		case ok:
			broken.file = file
			return nil, broken
		case err != nil:
			return nil, fmt.Errorf("has a %s that is not readable: %w", name, err)
		}
		l = &Layer{Dir: dir, File: file, Root: root, lists: kustomizeLists(content)}
	}
	if l == nil {
		if _, err := f.Stat(path.Join(dir, "composition.yaml")); err == nil {
			return nil, errors.New("has no kustomization.yaml, and a composition.yaml, " + noComposition)
		}
		return nil, errors.New("has no kustomization.yaml")
	}
	return l, nil
}

// Parse returns the only document of a file, a mapping.
func Parse(content []byte) (*yaml.Node, error) {
	var root *yaml.Node
	for document, err := range yamlnode.Documents(content) {
		switch {
		case err != nil:
			line, message := yamlnode.Position(err, content)
			return nil, &lineError{line: line, message: "it is not valid YAML: " + message}
		case root != nil:
			return nil, &lineError{line: document.Content[0].Line, message: "a second document starts here"}
		}
		root = document.Content[0]
	}
	if root == nil || yamlnode.Resolve(root).Kind != yaml.MappingNode {
		return nil, errors.New("it is no mapping")
	}
	return yamlnode.Resolve(root), yamlnode.Validate(root)
}

// kustomizeLists decodes the lists of a kustomization as kustomize does: keys in any case of the letters are the fields, and
// a merge key replaces what is above it. It returns nil for a text that kustomize refuses.
func kustomizeLists(content []byte) map[string][]string {
	var read struct{ Resources, Bases, Components, Generators, Transformers, Validators []string }
	if err := dialect.Unmarshal(content, &read); err != nil {
		return nil
	}
	return map[string][]string{
		"resources": read.Resources, "bases": read.Bases, "components": read.Components,
		"generators": read.Generators, "transformers": read.Transformers, "validators": read.Validators,
	}
}

// lineError is an error in a line of a text, or of a kustomization, whose file it has.
type lineError struct {
	file    string
	line    int
	message string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

// isInline reports whether an entry is a config itself, and no path.
func isInline(text string) bool {
	if strings.Contains(text, "\n") {
		return true
	}
	root, err := yamlnode.First([]byte(text))
	return err == nil && root != nil && root.Kind == yaml.MappingNode
}

// LooksRemote reports whether kustomize may take an entry that is no file for a repository or an address.
func LooksRemote(text string) bool {
	return strings.ContainsAny(text, "?@") || strings.Contains(text, "::") || strings.Contains(text, "://") ||
		strings.HasPrefix(strings.ToLower(text), "github.com/") || strings.Contains(text, ".git") || strings.Contains(text, "_git/")
}
