package lint

import (
	"context"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/document"
)

// maxDocuments bounds a file of documents in bytes. Package catalog refuses what is larger.
const maxDocuments = 8 << 20

// readDefinitions is read for the format Definitions.
func readDefinitions(ctx context.Context, fsys fs.FS) (*corpus, error) {
	files, err := catalog.Definitions{}.Files(fsys)
	if err != nil {
		return nil, err
	}
	c := &corpus{}
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, _, err := content(fsys, name, maxDocuments)
		if err != nil {
			return nil, err
		}
		if len(data) > maxDocuments {
			continue
		}
		for _, piece := range document.Split(data) {
			node := decode(piece.Data)
			shift(node, piece.Above)
			c.add(&definition{path: name, above: piece.Above, root: rootOf(node), data: piece.Data, file: data})
		}
	}
	return c, nil
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
