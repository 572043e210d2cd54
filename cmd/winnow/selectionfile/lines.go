// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// lines finds the lines of fields in a document.
type lines struct {
	root *yaml.Node
	// before is the number of lines in the file before the document.
	before int
}

// newLines returns the lines of a document. Without a root, for a document that does not parse, all are 0.
func newLines(document []byte, before int) lines {
	root, _ := yamlnode.First(document) // nil with an error
	return lines{root, before}
}

// item returns the lines of an item of a list.
func (l lines) item(i int) lines {
	for _, step := range []string{"items", fmt.Sprintf("[%d]", i)} {
		if l.root != nil {
			l.root, _, _ = descend(l.root, step)
		}
	}
	return l
}

// of returns the line of a field, or of the nearest enclosing one; 0 if it is unknown.
func (l lines) of(field string) int {
	if l.root == nil {
		return 0
	}
	node, line := l.root, l.root.Line
	for field != "" {
		child, rest, at := descend(node, field)
		if child == nil {
			break
		}
		node, field, line = child, rest, at
	}
	return l.before + line
}

// descend returns the child of a node at the first segment of a path, the rest of the path, and the line
// of the child or of its key. It returns nil if there is none. Keys may contain dots: it uses the
// longest key that matches.
func descend(node *yaml.Node, path string) (child *yaml.Node, rest string, line int) {
	node = yamlnode.Resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if after, ok := cutKey(path, key.Value); ok && len(key.Value) > longest {
				longest, child, rest, line = len(key.Value), node.Content[i+1], after, key.Line
			}
		}
	case yaml.SequenceNode:
		index, after, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
		i, err := strconv.Atoi(index)
		if ok && err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], after, node.Content[i].Line
		}
	}
	return child, rest, line
}

// cutKey removes a key, as .key or [key], from the start of a path. It reports false for another key.
func cutKey(path, key string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(path, "."), key)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// read returns the object of a document as dialect.Kustomize reads it, with numbers as the API server decodes them.
func read(document []byte) (object map[string]any, err error) {
	content, err := dialect.Kustomize(document)
	if content != nil && utiljson.Unmarshal(content, &object) != nil && err == nil {
		err = dialect.Errors{{Line: 1, Message: "the document is no mapping"}}
	}
	return object, err
}

// yamlViolations returns why kustomize refuses a document.
func yamlViolations(document []byte, before int) (all []Violation) {
	_, err := read(slices.Concat(bytes.Repeat([]byte("\n"), before), document))
	refused, _ := errors.AsType[dialect.Errors](err)
	return each.Map(refused, func(one dialect.Error) Violation {
		return Violation{Line: one.Line, Message: "reading YAML: " + one.Message}
	})
}
