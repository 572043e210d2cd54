package transform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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
	// as somebody asked.
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

// parse reads the only document of data, whose content must be a mapping or nothing. It turns a
// panic of the parser into an error.
func parse(data []byte) (doc *document, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	doc = &document{data: data}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var next yaml.Node
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		switch {
		case isEmpty(next.Content[0]):
		case doc.root != nil:
			return nil, errors.New("it holds more than one document")
		default:
			doc.root = &next
		}
	}
	if doc.root == nil {
		doc.root = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{newMapping()}}
	}
	if root := doc.content(); root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("it is not a mapping, but %s", describe(root))
	}
	if err := sound(doc.root); err != nil {
		return nil, err
	}
	doc.lines = lineOffsets(data)
	return doc, nil
}

// isEmpty tells a document without content from a written null.
func isEmpty(content *yaml.Node) bool {
	return content.Kind == yaml.ScalarNode && content.ShortTag() == "!!null" && content.Value == ""
}

func lineOffsets(data []byte) []int {
	lines := []int{0}
	for i, b := range data {
		if b == '\n' {
			lines = append(lines, i+1)
		}
	}
	return lines
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
	if repairAliases(d.root) {
		d.whole = true
	}
	if !d.whole {
		if data, ok := d.spliced(); ok && d.adopt(data) == nil {
			return nil
		}
	}
	data, err := encode(d.root)
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

// encode writes a node with an indentation of two spaces, and without folding lines.
func encode(node *yaml.Node) (_ []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the encoder gave up: %v", r)
		}
	}()
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(encodable(node)); err != nil {
		return nil, err
	}
	err = encoder.Close()
	return out.Bytes(), err
}

// encodable copies a node. Without their tag, merge keys are written as << and not as !!merge <<.
func encodable(node *yaml.Node) *yaml.Node {
	copied := *node
	if isMerge(node) {
		copied.Tag = ""
	}
	copied.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		copied.Content[i] = encodable(child)
	}
	return &copied
}
