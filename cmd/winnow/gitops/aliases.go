package gitops

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxNodes bounds a document of which the aliases are expanded, which kustomize does.
const maxNodes = 1_000_000

// checkAliases refuses YAML that its aliases make much larger than it is. What is no YAML is not looked
// at: kustomize refuses it, or does not read it as such.
func checkAliases(content []byte) error {
	if !bytes.ContainsRune(content, '&') || !bytes.ContainsRune(content, '*') {
		return nil
	}
	for document, err := range yamlnode.Documents(content) {
		if err != nil {
			return nil
		}
		if n := expanded(document, map[*yaml.Node]int{}); n > maxNodes {
			return fmt.Errorf("%w: its aliases make a document of more than %d nodes", errTooLarge, maxNodes)
		}
	}
	return nil
}

// expanded counts the nodes, those of aliases each time.
func expanded(node *yaml.Node, known map[*yaml.Node]int) int {
	node = yamlnode.Resolve(node)
	if n, found := known[node]; found {
		return n
	}
	known[node] = 1 // an alias to a node that it is in, which nobody can expand
	n := 1
	for _, child := range node.Content {
		if n += expanded(child, known); n > maxNodes {
			n = maxNodes + 1
			break
		}
	}
	known[node] = n
	return n
}
