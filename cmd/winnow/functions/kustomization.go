package functions

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// catalogsField of a kustomization is the one of KEP-2906, which kustomize does not know.
const catalogsField = "catalogs"

// layer is a kustomization. Its functions run in its directory.
type layer struct {
	dir, file string
	root      *yaml.Node
	// catalogs are those that it names.
	catalogs []named
}

// named is a reference to a catalog in a file.
type named struct {
	reference string
	line      int
}

// entry is an element of a list of a kustomization.
type entry struct {
	field string
	index int
	text  string
	line  int
	// first is the line of the first line of a text of several lines.
	first int
}

// open reads the kustomization of a directory.
func (f *files) open(dir string) (*layer, error) {
	var l *layer
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		file := path.Join(dir, name)
		content, err := f.read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("has a %s that is not readable: %w", name, err)
		case l != nil:
			return nil, fmt.Errorf("has two kustomizations, %s and %s", path.Base(l.file), name)
		}
		root, err := parse(content)
		if err != nil {
			return nil, fmt.Errorf("has a %s that is not readable: %w", name, err)
		}
		l = &layer{dir: dir, file: file, root: root}
	}
	if l == nil {
		return nil, errors.New("has no kustomization.yaml")
	}
	return l, nil
}

// parse returns the only document of a file, a mapping.
func parse(content []byte) (*yaml.Node, error) {
	var root *yaml.Node
	for document, err := range yamlnode.Documents(content) {
		switch {
		case err != nil:
			line, message := yamlnode.Position(err, content)
			return nil, &lineError{line, "it is not valid YAML: " + message}
		case root != nil:
			return nil, &lineError{document.Content[0].Line, "a second document starts here"}
		}
		root = document.Content[0]
	}
	if root == nil || yamlnode.Resolve(root).Kind != yaml.MappingNode {
		return nil, errors.New("it is no mapping")
	}
	return yamlnode.Resolve(root), yamlnode.Validate(root)
}

// lineError is an error in a line of a text.
type lineError struct {
	line    int
	message string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

// entries returns the elements of a list of strings.
func (l *layer) entries(problems *problems, show func(string) string, fields ...string) (all []entry) {
	for _, field := range fields {
		list, ok := yamlnode.Find(l.root, field)
		switch {
		case !ok || yamlnode.IsNull(list.Value):
			continue
		case list.Value.Kind != yaml.SequenceNode:
			problems.add(show(l.file), list.Line, "%s must be a list, not %s", field, yamlnode.Describe(list.Value))
			continue
		}
		for i, element := range list.Value.Content {
			text, isText := yamlnode.Text(yamlnode.Resolve(element))
			if !isText || text == "" {
				problems.add(show(l.file), element.Line, "%s has %s: expected a path", field, yamlnode.Describe(yamlnode.Resolve(element)))
				continue
			}
			one := entry{field, i, text, element.Line, element.Line}
			if yamlnode.Resolve(element).Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
				one.first++ // below the | or >
			}
			all = append(all, one)
		}
	}
	return all
}

// isInline reports whether an entry is a config itself, and no path.
func isInline(text string) bool {
	if strings.Contains(text, "\n") {
		return true
	}
	root, err := yamlnode.First([]byte(text))
	return err == nil && root != nil && root.Kind == yaml.MappingNode
}

// looksRemote reports whether kustomize may take an entry that is no file for a repository or an address.
func looksRemote(text string) bool {
	return strings.ContainsAny(text, "?@") || strings.Contains(text, "::") || strings.Contains(text, "://") ||
		strings.HasPrefix(text, "github.com/") || strings.Contains(text, ".git") || strings.Contains(text, "_git/")
}
