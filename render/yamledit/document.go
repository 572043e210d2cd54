// Package yamledit edits documents of YAML as text: only the lines that have to change do. What cannot be spliced safely is
// encoded again as a whole. Each edit is made on the parsed document as well, and the result is parsed again and compared
// with it. It must not know what a document defines.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Document is a YAML document that is edited as text and as nodes at once. Between flushes the
// nodes are ahead of the text.
type Document struct {
	Data  []byte
	root  *yaml.Node // the document node; its content is a mapping
	lines []int      // offset of each line's first byte
	// marks has, by line, the offset of every character whose column is a multiple of stride; as far
	// as the caller asked.
	marks map[int][]int
	edits []edit
	// Dirty says that nodes changed; whole that edits cannot express it.
	Dirty, Whole bool
	// Encoded says that the text was encoded from the nodes.
	Encoded bool
}

// MaxDocument bounds a document in bytes, as the catalog does: what is larger does not fit into
// an etcd request.
const MaxDocument = 1 << 20

// edit replaces data[start:end].
type edit struct {
	start, end int
	text       string
}

// Parse reads the only document of data, whose content must be a mapping or nothing. Of one with aliases
// or merge keys the nodes have these expanded, so that an edit changes no other place.
func Parse(data []byte) (*Document, error) {
	doc := &Document{Data: data, lines: yamlnode.LineOffsets(data)}
	for next, err := range yamlnode.Documents(data) {
		switch {
		case err != nil:
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		case doc.root != nil:
			return nil, errors.New("it holds more than one document")
		}
		doc.root = next
	}
	if doc.root == nil {
		doc.root = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{NewMapping()}}
	}
	if root := doc.Content(); root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("it is not a mapping, but %s", yamlnode.Describe(root))
	}
	if err := yamlnode.Validate(doc.Content()); err != nil {
		return nil, err
	}
	if err := checkTags(doc.Content()); err != nil {
		return nil, err
	}
	if !yamlnode.IsExpanded(doc.root) {
		doc.root, doc.Whole = yamlnode.Expand(doc.root), true
	}
	return doc, nil
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

// newline returns the line break that the document uses.
func (d *Document) newline() string {
	if end := bytes.IndexByte(d.Data, '\n'); end > 0 && d.Data[end-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Splice records that text takes the place of data[start:end].
func (d *Document) Splice(start, end int, text string) {
	d.Dirty = true
	if nl := d.newline(); nl != "\n" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, nl, "\n"), "\n", nl)
	}
	d.edits = append(d.edits, edit{start: start, end: end, text: text})
}

// GiveUp records a change that cannot be spliced.
func (d *Document) GiveUp() { d.Dirty, d.Whole = true, true }

// Flush brings the text up to the nodes, and proves that it says the same: first with the
// edits, and if they do not lead there, by encoding the nodes.
func (d *Document) Flush() error {
	if !d.Dirty {
		return nil
	}
	if !d.Whole {
		if data, ok := d.spliced(); ok && d.adopt(data) == nil {
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
	result, err := Parse(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	if !same(d.Content(), result.Content()) {
		return ErrMismatch
	}
	*d = *result
	return nil
}

// spliced returns the text with the edits, not ok when they overlap.
func (d *Document) spliced() ([]byte, bool) {
	slices.SortStableFunc(d.edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range d.edits {
		if e.start < at || e.end < e.start || e.end > len(d.Data) {
			return nil, false
		}
		out = append(out, d.Data[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, d.Data[at:]...), true
}

// ErrMismatch says that an edited document does not say what it was meant to say. It is a
// defect of this package; the document is never handed out.
var ErrMismatch = errors.New("internal error: the edited document differs from what was intended")
