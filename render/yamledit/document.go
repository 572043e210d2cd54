// SPDX-License-Identifier: Apache-2.0

// Package yamledit edits YAML as text: only the lines that have to change do. A Text is edited in place, and its caller proves
// the result. Each edit of a Document is made on the parsed document as well, and the result is parsed again and compared with
// it; what cannot be spliced safely is encoded again as a whole. It must not know what a document defines.
package yamledit

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Document is a YAML document that is edited as text and as nodes at once. Between flushes the
// nodes are ahead of the text.
type Document struct {
	Text

	root *yaml.Node // the document node; its content is a mapping
	// Dirty reports whether nodes changed; whole that edits cannot express it.
	Dirty, Whole bool
	// Encoded reports whether the text was encoded from the nodes.
	Encoded bool
	// parse reads the edited text, and key a key, as the reader of the document does.
	parse func([]byte) (*Document, error)
	key   func(*yaml.Node) string
}

// MaxDocument bounds a document in bytes, as the catalog does: what is larger does not fit into
// an etcd request.
const MaxDocument = 1 << 20

// Parse reads the only document of data, whose content must be a mapping or nothing. Of one with aliases
// or merge keys the nodes have these expanded, so that an edit changes no other place.
func Parse(data []byte) (*Document, error) {
	var root *yaml.Node
	for next, err := range yamlnode.Documents(data) {
		switch {
		case err != nil:
			return nil, unreadable(err)
		case root != nil:
			return nil, errors.New("it holds more than one document")
		}
		root = next
	}
	if root != nil {
		if err := yamlnode.Validate(root.Content[0]); err != nil {
			return nil, err
		}
	}
	return newDocument(Document{Text: *NewText(data), root: root, parse: Parse, key: written})
}

// ParseValues is Parse of a text of values. Its nodes come from dialect.Values: edits leave further documents as they are.
func ParseValues(data []byte) (*Document, error) {
	root, err := dialect.Values(data)
	if err != nil {
		return nil, unreadable(err)
	}
	return newDocument(Document{Text: *NewText(data), root: root, parse: ParseValues, key: dialect.Key})
}

func unreadable(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

func written(key *yaml.Node) string { return key.Value }

// newDocument checks a document, whose root is nil if it is empty.
func newDocument(doc Document) (*Document, error) {
	if doc.root == nil {
		doc.root = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{NewMapping()}}
	}
	content := doc.Content()
	if content.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("it is not a mapping, but %s", yamlnode.Describe(content))
	}
	if err := checkTags(content); err != nil {
		return nil, err
	}
	if !yamlnode.IsExpanded(doc.root) {
		doc.root, doc.Whole = yamlnode.Expand(doc.root), true
	}
	return &doc, nil
}

// checkTags refuses texts that others read as other texts: they decode what has the tag !!binary, and
// ignore tags that they do not know.
func checkTags(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		switch node.ShortTag() {
		case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge":
		default:
			return fmt.Errorf("line %d: it has %s", node.Line, yamlnode.Describe(node))
		}
	}
	for _, child := range node.Content {
		if err := checkTags(child); err != nil {
			return err
		}
	}
	return nil
}

// Content returns the mapping of the document.
func (d *Document) Content() *yaml.Node { return d.root.Content[0] }

// Splice is Text.Splice of a change that the nodes have.
func (d *Document) Splice(start, end int, text string) {
	d.Dirty = true
	d.Text.Splice(start, end, text)
}

// GiveUp records a change that cannot be spliced.
func (d *Document) GiveUp() { d.Dirty, d.Whole = true, true }

// Flush updates the text from the nodes, and proves that both have the same content. It tries the edits first, and
// encodes the nodes if these do not lead to that content.
func (d *Document) Flush() error {
	if !d.Dirty {
		return nil
	}
	if !d.Whole {
		if data, ok := d.Edited(); ok && d.adopt(data) == nil {
			return nil
		}
	}
	data, err := yamlnode.Encode(d.root)
	if err != nil {
		return err
	}
	if err := d.adopt(data); err != nil {
		return err
	}
	d.Encoded = true
	return nil
}

// adopt replaces the document by what data says, if that is what the nodes say.
func (d *Document) adopt(data []byte) error {
	if len(data) > MaxDocument {
		return fmt.Errorf("the result is larger than %d bytes", MaxDocument)
	}
	result, err := d.parse(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	if !same(d.Content(), result.Content()) {
		return ErrMismatch
	}
	*d = *result
	return nil
}

// ErrMismatch reports that an edited document does not have the content of its nodes. It is a defect of this package;
// the document is never returned.
var ErrMismatch = errors.New("internal error: the edited document differs from what was intended")
