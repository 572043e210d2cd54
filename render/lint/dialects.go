// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/corpus"
)

// readersDiffer reports what Winnow and kustomize read as a text, and kubectl and Helm as a boolean. In default values that are a
// text, all their readers read a boolean.
func readersDiffer(c *corpus.Corpus, report corpus.Report) {
	for _, d := range c.Definitions {
		for path, root := range map[string]*yaml.Node{d.Path: d.Root.Node, d.MetadataPath: d.Metadata.Node} {
			eachBoolean(root, func(node *yaml.Node) {
				report(d, path, node.Line, "%s is a text for Winnow and kustomize, and a boolean for kubectl and Helm: write true or false, or put it in quotes", excerpt.Quoted(node.Value))
			})
		}
	}
}

// eachBoolean calls f for each scalar that is a boolean for some readers. It visits no node twice.
func eachBoolean(node *yaml.Node, f func(*yaml.Node)) {
	if node == nil {
		return
	}
	if dialect.IsBoolean(node) {
		f(node)
	}
	for _, child := range node.Content {
		eachBoolean(child, f)
	}
}
