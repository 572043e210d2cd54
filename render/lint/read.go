package lint

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxFile bounds a file in bytes. Package catalog refuses what is larger.
const maxFile = 1 << 20

// corpus is what can be read of a catalog, valid or not.
type corpus struct {
	definitions []*definition // sorted by path
	// files are others that comments may be in.
	files map[string][]byte
}

// definition is an application, or what should be one.
type definition struct {
	path  string // of the file that defines it
	above int    // lines of the file above its document
	// metadataPath is empty in a format that has no such file.
	metadataPath string
	// root and metadata have no value where there is no document, or none that can be read.
	root, metadata field
	hasMetadata    bool
	// data is the document, and file and metadataFile are the files, nil without.
	data, file, metadataFile []byte
	name, group              string
}

// read reads what it can. The error is the file system's or the context's.
func read(ctx context.Context, fsys fs.FS, format catalog.Format) (*corpus, error) {
	if format == (catalog.Definitions{}) {
		return readDefinitions(ctx, fsys)
	}
	directories, err := directories(fsys)
	if err != nil {
		return nil, err
	}
	c := &corpus{}
	for _, directory := range directories {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d := &definition{path: path.Join(directory, catalog.ApplicationFile), metadataPath: path.Join(directory, catalog.MetadataFile)}
		if d.data, d.root, _, err = readDocument(fsys, d.path); err != nil {
			return nil, err
		}
		d.file = d.data
		if d.metadataFile, d.metadata, d.hasMetadata, err = readDocument(fsys, d.metadataPath); err != nil {
			return nil, err
		}
		c.add(d)
	}
	return c, nil
}

func (c *corpus) add(d *definition) {
	d.name = d.root.get("metadata", "name").text()
	d.group, _, _ = strings.Cut(d.root.get("apiVersion").text(), "/")
	c.definitions = append(c.definitions, d)
}

// directories returns those that are, or should be, applications.
func directories(fsys fs.FS) ([]string, error) {
	root, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range root {
		if entry.IsDir() && entry.Name() == catalog.ApplicationsDirectory {
			children, err := fs.ReadDir(fsys, catalog.ApplicationsDirectory)
			return visible(catalog.ApplicationsDirectory, children), err
		}
	}
	var found []string
	for _, directory := range visible(".", root) {
		_, err := fs.Stat(fsys, path.Join(directory, catalog.ApplicationFile))
		if err == nil && directory != catalog.ListsDirectory {
			found = append(found, directory)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return found, nil
}

func visible(parent string, entries []fs.DirEntry) []string {
	var found []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			found = append(found, path.Join(parent, entry.Name()))
		}
	}
	return found
}

// readDocument reads a file that holds one YAML document. What is wrong with it package catalog
// finds; here it only has no value then.
func readDocument(fsys fs.FS, name string) (data []byte, root field, exists bool, err error) {
	data, exists, err = content(fsys, name, maxFile)
	if data == nil || err != nil {
		return nil, field{}, exists, err
	}
	return data, rootOf(decode(data)), true, nil
}

// rootOf returns the field of a document, without a value if there is none.
func rootOf(node *yaml.Node) field {
	if node == nil {
		return field{line: 1}
	}
	return newField("", node.Line, node)
}

// content returns at most a byte over the limit of a file, nil for one that is not regular.
func content(fsys fs.FS, name string, limit int) (data []byte, exists bool, err error) {
	data, err = bounded.ReadFile(fsys, name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, bounded.ErrNotRegular), errors.Is(err, bounded.ErrTooLarge):
		return data, true, nil
	}
	return data, true, err
}

// decode returns the first document that is not empty, nil if it may not be looked at.
func decode(data []byte) *yaml.Node {
	if len(data) > maxFile {
		return nil
	}
	root, err := yamlnode.First(data)
	if err != nil || root == nil {
		return nil
	}
	if _, bounded := yamlnode.Check(root, yamlnode.MaxAliased, func(int, string, ...any) {}); !bounded {
		return nil
	}
	return yamlnode.Resolve(root)
}
