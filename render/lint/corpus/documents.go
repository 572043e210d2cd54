// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"errors"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxDocuments bounds a file of documents in bytes. Package catalog refuses what is larger.
const maxDocuments = 8 << 20

// readDocuments reads the definitions, and what is no YAML, in the files of the format Definitions.
func readDocuments(ctx context.Context, fsys fs.FS) (all []*Definition, err error) {
	files, err := catalog.Definitions{}.Files(fsys)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, _, err := Content(fsys, name, maxDocuments)
		if err != nil {
			return nil, err
		}
		if len(data) > maxDocuments {
			continue
		}
		for _, piece := range document.Split(data) {
			node := decode(piece.Data)
			if kind := yamlnode.TextAt(node, "kind"); node != nil && kind != definition.Kind && catalog.FormerKind(kind) == "" {
				continue // package catalog reports it
			}
			shift(node, piece.Above)
			all = append(all, &Definition{Path: name, Above: piece.Above, Root: field.Root(node), Data: piece.Data, File: data})
		}
	}
	return all, nil
}

// shift turns the lines of nodes in a document into those in its file.
func shift(node *yaml.Node, above int) {
	if node == nil || above == 0 {
		return
	}
	node.Line += above
	for _, child := range node.Content {
		shift(child, above)
	}
}

// maxFile bounds a file in bytes. Package catalog refuses what is larger.
const maxFile = 1 << 20

// Document reads a file that holds one YAML document. An invalid file has no value: package catalog reports its errors.
func Document(fsys fs.FS, name string) (data []byte, root field.Field, exists bool, err error) {
	data, exists, err = Content(fsys, name, maxFile)
	if data == nil || err != nil {
		return nil, field.Field{}, exists, err
	}
	return data, field.Root(decode(data)), true, nil
}

// Content returns at most a byte over the limit of a file, nil for one that is not regular.
func Content(fsys fs.FS, name string, limit int) (data []byte, exists bool, err error) {
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
