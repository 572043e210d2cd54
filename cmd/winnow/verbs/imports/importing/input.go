// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Expected names the kinds of input.
const Expected = "want ApplicationDefinitions or ApplicationCatalogs, a list of them as kubectl get prints it, or the index of a Helm repository"

// Add imports the applications of a file, whose format it derives from the content. It returns an error only if the
// input exceeds a bound or the context ends: Skipped has what was not imported.
func (i *Importer) Add(ctx context.Context, file string, content []byte) error {
	if elements(content) > maxElements {
		i.refuse(file, tooManyElements)
		return nil
	}
	isJSON := bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) && json.Valid(content)
	if isJSON { // in block style it can be edited and read
		converted, err := sigsyaml.JSONToYAML(content)
		if err != nil {
			i.refuse(file, excerpt.To(err.Error(), maxReason))
			return nil
		}
		content = converted
	}
	documents := split(content)
	switch {
	case len(documents) == 0:
		i.refuse(file, "it is empty")
	case len(documents) > maxDocuments:
		i.refuse(file, fmt.Sprintf("it has more than %d documents: import it in parts", maxDocuments))
		return nil
	}
	for n, one := range documents {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := position{file: file, before: one.Above, exact: !isJSON}
		if len(documents) > 1 {
			at.document = n + 1
		}
		if err := i.record(i.addDocument(ctx, at, one.Data)); err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxReason bounds an error of a parser in bytes.
	maxReason = 300
	// maxDocuments bounds the documents of a file.
	maxDocuments = 20_000
	// maxElements bounds what elements counts: a parser takes some hundred bytes for each, though a file of 32 MiB may
	// have 16 million. The largest indexes of Helm repositories have about a million.
	maxElements = 2_000_000
)

// tooManyElements is the reason for a file with more than maxElements.
var tooManyElements = fmt.Sprintf("it has more than %d elements: import it in parts", maxElements)

// elements counts the characters that may begin an entry of a mapping or a list, without parsing.
func elements(content []byte) (n int) {
	for at, b := range content {
		switch b {
		case ',', '[', '{':
			n++
		case '-', ':', '?':
			if at+1 == len(content) || bytes.IndexByte([]byte(" \t\r\n"), content[at+1]) >= 0 {
				n++
			}
		}
	}
	return n
}

func (i *Importer) addDocument(ctx context.Context, at position, text []byte) error {
	root, err := yamlnode.First(text)
	if err != nil {
		return at.syntaxError(err, text)
	}
	if root == nil {
		return nil
	}
	kind, _ := yamlnode.Text(yamlnode.Written(root, "kind"))
	items := yamlnode.Written(root, "items")
	isList := strings.HasSuffix(kind, "List") && items != nil && items.Kind == yaml.SequenceNode
	i.Recognized = i.Recognized || kind == definition.Kind || kind == applicationCatalogKind || isList || isIndex(root)
	switch {
	case root.Kind != yaml.MappingNode:
		return at.refuse("", "it is "+yamlnode.Describe(root))
	case kind == definition.Kind:
		return i.addDefinition(ctx, at, text)
	case kind == applicationCatalogKind:
		return i.addApplicationCatalog(ctx, at, root)
	case isList:
		return i.addList(ctx, at, root, items)
	case isIndex(root):
		return i.addIndex(ctx, at, root)
	case kind == "":
		return at.refuse("", "it has no kind")
	}
	return at.refuse(nameOf(root), otherKind(kind))
}

// otherKind returns why a document of a kind is not taken.
func otherKind(kind string) string {
	if former := catalog.FormerKind(kind); former != "" {
		return "it " + former
	}
	return "its kind is " + excerpt.Of(kind)
}

// addList takes the items of a list, as kubectl get prints it.
func (i *Importer) addList(ctx context.Context, at position, root, items *yaml.Node) error {
	if !yamlnode.IsExpanded(root) {
		return at.refuse("", errAliases.Error())
	}
	if len(items.Content) == 0 {
		i.refuse(at.String(), "the list has no items")
	}
	at.exact = false
	for n, item := range items.Content {
		at.item = n + 1
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := i.record(i.addItem(ctx, at, item)); err != nil {
			return err
		}
	}
	return nil
}

func (i *Importer) addItem(ctx context.Context, at position, item *yaml.Node) error {
	switch kind, _ := yamlnode.Text(yamlnode.Written(item, "kind")); kind {
	case definition.Kind:
		text, err := yamlnode.Encode(item)
		if err != nil {
			return at.refuse("", excerpt.To(err.Error(), maxReason))
		}
		return i.addDefinition(ctx, at, text)
	case applicationCatalogKind:
		return i.addApplicationCatalog(ctx, at, item)
	}
	return at.refuse(nameOf(item), "it is no "+definition.Kind)
}

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
