// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Differences reports where kubectl and Helm, which use sigs.k8s.io/yaml, read another value of a document than kustomize, which
// must not refuse it.
func Differences(root *yaml.Node, report yamlnode.Report) {
	walk(root, "", func(node *yaml.Node, _ string) {
		switch {
		case IsBoolean(node):
			report(node.Line, "%s is a text for kustomize, and a boolean for kubectl and Helm: write true or false, or put it in quotes", excerpt.Quoted(node.Value))
		case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp":
			var read time.Time
			if err := node.Decode(&read); err == nil && read.Format(time.RFC3339Nano) != node.Value {
				report(node.Line, "%s is a time for kustomize, and a text for kubectl and Helm: put it in quotes", excerpt.Quoted(node.Value))
			}
		case node.Kind == yaml.MappingNode:
			replaced, _ := overridden(node, keys{})
			for _, key := range replaced {
				report(key.Line, "the key %s stands before the merge key <<: kustomize keeps it, kubectl and Helm take what is merged: write << first", excerpt.Quoted(key.Value))
			}
		}
	})
}

// EachBoolean calls f for each scalar, also a key, for which IsBoolean reports true, with the key whose value it is.
func EachBoolean(root *yaml.Node, f func(scalar *yaml.Node, of string)) {
	walk(root, "", func(node *yaml.Node, of string) {
		if IsBoolean(node) {
			f(node, of)
		}
	})
}

// walk calls f for all nodes, with the key whose value a node is. It visits no node twice.
func walk(node *yaml.Node, of string, f func(node *yaml.Node, of string)) {
	if node == nil {
		return
	}
	f(node, of)
	for i, child := range node.Content {
		of := ""
		if node.Kind == yaml.MappingNode && i%2 == 1 {
			of = node.Content[i-1].Value
		}
		walk(child, of, f)
	}
}
