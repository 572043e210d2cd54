// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Error is what is wrong in a line of a document; the line is 0 if it is unknown.
type Error struct {
	Line    int
	Message string
}

// Errors are all that is wrong with a document.
type Errors []Error

func (e Errors) Error() string {
	texts := each.Map(e, func(one Error) string { return fmt.Sprintf("line %d: %s", one.Line, one.Message) })
	return strings.Join(texts, "; ")
}

// Kustomize returns a document as JSON, with the values that kustomize reads: yes and off are texts, a date is a time, and a
// key wins over a merge key. It is null for a document without content. With Errors, for what kustomize refuses, renames or
// drops, it is what sigs.k8s.io/yaml reads, or nil. The parsers bound aliases.
func Kustomize(document []byte) (content []byte, err error) {
	content, refused := kustomize(document)
	if refused == nil {
		return content, nil
	}
	content, _ = JSON(document)
	return content, refused
}

func kustomize(document []byte) (content []byte, refused Errors) {
	root, err := yamlnode.Head(document)
	if err != nil {
		line, message := yamlnode.Position(err, document)
		return nil, Errors{{line, yamlnode.WithCause(message, line, document)}}
	}
	if root == nil {
		return []byte("null"), nil
	}
	refuseKeys(root, func(line int, format string, args ...any) {
		refused = append(refused, Error{line, fmt.Sprintf("the document "+format, args...)})
	})
	if refused != nil {
		return nil, refused
	}
	if content, err = encoded(root); err != nil {
		line, message := yamlnode.Position(err, document)
		return nil, Errors{{line, message}}
	}
	return content, nil
}

func encoded(root *yamlv3.Node) (content []byte, err error) {
	defer parallel.RecoverAs(gaveUp, &err)
	var value any
	if err := root.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// Built returns a document as JSON with the values that kustomize reads. Its keys are not checked.
func Built(document []byte) ([]byte, error) {
	root, err := yamlnode.Head(document)
	if err != nil || root == nil {
		return nil, err
	}
	return encoded(root)
}

// refuseKeys reports the keys with which kustomize refuses a document, or which it renames, drops or gives another value. It
// visits no node twice.
func refuseKeys(node *yamlv3.Node, report yamlnode.Report) {
	for _, child := range node.Content {
		refuseKeys(child, report)
	}
	if node.Kind != yamlv3.MappingNode {
		return
	}
	yamlnode.CheckKeys(node, report)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, written := yamlnode.Resolve(node.Content[i]), excerpt.Quoted(yamlnode.Resolve(node.Content[i]).Value)
		switch _, named := yamlnode.KeyName(key); {
		case !named: // is reported
		case yamlnode.IsMerge(key):
			RefuseNested(node.Content[i+1], report)
		case key.ShortTag() != "!!str":
			report(node.Content[i].Line, "has the key %s, which is %s: put it in quotes", written, yamlnode.Describe(key))
		case key.Value == "<<":
			report(key.Line, "has the key %s in quotes, which kustomize drops", written)
		case node.Style&yamlv3.FlowStyle != 0 && yamlnode.IsNull(node.Content[i+1]) && node.Content[i+1].Value == "":
			report(key.Line, "has the key %s without a value in braces, which kustomize reads as an empty text: write null or \"\"", written)
		}
	}
}

// RefuseNested reports a merge of a mapping that has a merge key itself: kustomize merges one level.
func RefuseNested(value *yamlv3.Node, report yamlnode.Report) {
	for _, source := range yamlnode.Merged(value) {
		for i, key := range yamlnode.Resolve(source).Content {
			if i%2 == 0 && yamlnode.IsMerge(key) {
				report(source.Line, "merges what has a merge key << itself, which kustomize gets wrong")
			}
		}
	}
}
