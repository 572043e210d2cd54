// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxNodes bounds the nodes of a document after kustomize has expanded its aliases.
const maxNodes = 1_000_000

// maxValues bounds what may be values of the documents of a file, which takes 300 bytes for each of them while it is
// parsed. Files of CustomResourceDefinitions with 5 MB have less than a million.
const maxValues = 2_500_000

// CheckAliases returns an error for a file with too many values, and for one in which aliases make a document too large. It
// skips content that is not YAML: kustomize refuses it, or does not read it as YAML.
func CheckAliases(content []byte) error {
	if yamlnode.MostValues(content) > maxValues {
		return fmt.Errorf("%w: it may have more than %d values", repository.ErrTooLarge, maxValues)
	}
	if !bytes.ContainsRune(content, '&') || !bytes.ContainsRune(content, '*') {
		return nil
	}
	for document, err := range yamlnode.Documents(content) {
		if err != nil {
			return nil
		}
		if n := countNodes(document, map[*yaml.Node]int{}); n > maxNodes {
			return fmt.Errorf("%w: its aliases make a document of more than %d nodes", repository.ErrTooLarge, maxNodes)
		}
	}
	return nil
}

// countNodes counts the nodes of a document, and the nodes of an alias at each of its uses.
func countNodes(node *yaml.Node, known map[*yaml.Node]int) int {
	node = yamlnode.Resolve(node)
	if n, found := known[node]; found {
		return n
	}
	known[node] = 1 // ends the recursion at an alias to a node that contains it
	n := 1
	for _, child := range node.Content {
		if n += countNodes(child, known); n > maxNodes {
			n = maxNodes + 1
			break
		}
	}
	known[node] = n
	return n
}
