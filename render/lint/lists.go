// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"io/fs"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

func misplacedListRule() rules.Rule {
	return rules.New("catalog/misplaced-list", rules.Error, "lists are at catalogs/<name>/metadata.yaml")
}

// misplacedLists finds lists that nothing reads, which takes applications out of selections: files in catalogs/, and files
// of a directory that should have its name.
func misplacedLists(fsys fs.FS) ([]rules.Finding, error) {
	root, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var found []rules.Finding
	look := func(name, format string, args ...any) error {
		_, list, _, err := corpus.Document(fsys, name)
		if err == nil && len(list.Get("applications").Items()) > 0 {
			found = append(found, misplacedListRule().Finding("", name, 0, format, args...))
		}
		return err
	}
	for _, directory := range corpus.Visible(".", root) {
		children, err := fs.ReadDir(fsys, directory)
		if err != nil {
			return nil, err
		}
		for _, child := range children {
			name, extension := path.Join(directory, child.Name()), path.Ext(child.Name())
			switch {
			case directory == catalog.ApplicationsDirectory:
			case directory != catalog.ListsDirectory && child.IsDir():
				err = look(path.Join(name, catalog.MetadataFile), "is a list that nothing reads: rename the directory %s to %s", directory, catalog.ListsDirectory)
			case directory == catalog.ListsDirectory && yamlnode.IsYAML(name):
				err = look(name, "is a list that nothing reads: move it to %s/%s", strings.TrimSuffix(name, extension), catalog.MetadataFile)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
