// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Objects reads the objects of a file, and of its lists, as the API server reads them, and returns what it could not
// read. It takes no aliases: neither kubectl nor Flux writes them. No reason quotes a value.
func Objects(ctx context.Context, file string, content []byte) (objects []map[string]any, skipped []error, err error) {
	whole := position{file: file}
	if elements(content) > maxElements {
		return nil, []error{whole.refuse("", tooManyElements)}, nil
	}
	documents := []document.Piece{{Data: content}} // JSON may contain what split takes for a marker
	if trimmed := bytes.TrimSpace(content); !bytes.HasPrefix(trimmed, []byte("{")) || !json.Valid(trimmed) {
		documents = split(content)
	}
	if len(documents) == 0 {
		skipped = append(skipped, whole.refuse("", "it is empty"))
	}
	for n, one := range documents {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		at := position{file: file, before: one.Above, exact: true}
		if len(documents) > 1 {
			at.document = n + 1
		}
		object, problem := objectOf(at, one.Data)
		if problem != nil {
			skipped = append(skipped, problem)
			continue
		}
		objects = append(objects, dialect.Objects(object)...)
	}
	return objects, skipped, nil
}

func objectOf(at position, text []byte) (map[string]any, error) {
	root, err := yamlnode.First(text)
	switch {
	case err != nil:
		return nil, at.syntaxError(err, text)
	case root == nil || root.Kind != yaml.MappingNode:
		return nil, at.refuse("", "it is no object")
	case !yamlnode.IsExpanded(root):
		return nil, at.refuse("", "it has aliases or merge keys, which kubectl does not write: write them out")
	}
	for _, part := range parts(root) {
		if problem := at.problemOf(part); problem != "" {
			return nil, at.refuse("", problem)
		}
	}
	object, err := dialect.Object(text, true)
	if err != nil {
		return nil, at.refuse("", "it cannot be converted to JSON: it has a key twice, or a value that JSON does not have") // err may quote a value
	}
	if items, isList := dialect.Items(object); isList && slices.ContainsFunc(items, isNoObject) {
		return nil, at.refuse("", "it has an item that is no object")
	}
	return object, nil
}

func isNoObject(item any) bool {
	_, isObject := item.(map[string]any)
	return !isObject
}

// parts returns the items of a list, or the object itself. The API server bounds each item.
func parts(root *yaml.Node) []*yaml.Node {
	items := yamlnode.Written(root, "items")
	if items == nil || items.Kind != yaml.SequenceNode {
		return []*yaml.Node{root}
	}
	all := slices.Clone(items.Content)
	for n := 1; n < len(root.Content); n += 2 {
		if root.Content[n] != items {
			all = append(all, root.Content[n])
		}
	}
	return all
}

// problemOf returns the first reason why a part of a document must not be converted.
func (p position) problemOf(part *yaml.Node) (problem string) {
	size, _ := yamlnode.Check(part, 0, func(line int, format string, args ...any) {
		if problem == "" {
			problem = p.line(line) + "it " + excerpt.To(fmt.Sprintf(format, args...), maxReason)
		}
	})
	if size.Bytes > yamlnode.MaxBytes { // without aliases, they are all its own
		return p.line(part.Line) + fmt.Sprintf("it has more than %d bytes, which the API server does not store", yamlnode.MaxBytes)
	}
	return problem
}
