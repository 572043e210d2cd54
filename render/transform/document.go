package transform

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxDocument bounds a document in bytes, as the catalog does: what is larger does not fit into
// an etcd request.
const maxDocument = 1 << 20

// document is a YAML document that is edited as text and as nodes at once. Between flushes the
// nodes are ahead of the text.
type document struct {
	data  []byte
	root  *yaml.Node // the document node; its content is a mapping
	lines []int      // offset of each line's first byte
	// marks has, by line, the offset of every character whose column is a multiple of stride; as far
	// as the caller asked.
	marks map[int][]int
	edits []edit
	// dirty says that nodes changed; whole that edits cannot express it.
	dirty, whole bool
	// encoded says that the text was encoded from the nodes.
	encoded bool
}

// edit replaces data[start:end].
type edit struct {
	start, end int
	text       string
}

// parse reads the only document of data, whose content must be a mapping or nothing. Of one with aliases
// or merge keys the nodes have these expanded, so that an edit changes no other place.
func parse(data []byte) (*document, error) {
	doc := &document{data: data, lines: yamlnode.LineOffsets(data)}
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
		doc.root = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{newMapping()}}
	}
	if root := doc.content(); root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("it is not a mapping, but %s", yamlnode.Describe(root))
	}
	if err := yamlnode.Validate(doc.content()); err != nil {
		return nil, err
	}
	if err := checkTags(doc.content()); err != nil {
		return nil, err
	}
	if !yamlnode.IsExpanded(doc.root) {
		doc.root, doc.whole = yamlnode.Expand(doc.root), true
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

func (d *document) content() *yaml.Node { return d.root.Content[0] }

// newline returns the line break that the document uses.
func (d *document) newline() string {
	if end := bytes.IndexByte(d.data, '\n'); end > 0 && d.data[end-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// splice records that text takes the place of data[start:end].
func (d *document) splice(start, end int, text string) {
	d.dirty = true
	if nl := d.newline(); nl != "\n" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, nl, "\n"), "\n", nl)
	}
	d.edits = append(d.edits, edit{start: start, end: end, text: text})
}

// giveUp records a change that cannot be spliced.
func (d *document) giveUp() { d.dirty, d.whole = true, true }

// flush brings the text up to the nodes, and proves that it says the same: first with the
// edits, and if they do not lead there, by encoding the nodes.
func (d *document) flush() error {
	if !d.dirty {
		return nil
	}
	if !d.whole {
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
	d.encoded = true
	return nil
}

// adopt replaces the document by what data says, if that is what the nodes say.
func (d *document) adopt(data []byte) error {
	if len(data) > maxDocument {
		return fmt.Errorf("the result is larger than %d bytes", maxDocument)
	}
	result, err := parse(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	if !same(d.content(), result.content()) {
		return ErrMismatch
	}
	*d = *result
	return nil
}

// spliced returns the text with the edits, not ok when they overlap.
func (d *document) spliced() ([]byte, bool) {
	slices.SortStableFunc(d.edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range d.edits {
		if e.start < at || e.end < e.start || e.end > len(d.data) {
			return nil, false
		}
		out = append(out, d.data[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, d.data[at:]...), true
}
