// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/lint/field"
)

// maxDocuments bounds a file of documents in bytes. Package catalog refuses what is larger.
const maxDocuments = 8 << 20

// readDocuments reads the files of the format Definitions, of which each document is a definition.
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
