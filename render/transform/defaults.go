package transform

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	blockField   = "defaultValuesBlock"
	mappingField = "defaultValues"
)

// defaults are the default values of a document: the YAML in the string defaultValuesBlock, or
// the mapping defaultValues.
type defaults struct {
	outer *document
	spec  *yaml.Node
	name  string
	// inner is the document of the block, or outer.
	inner *document
	// mapping that the values are in.
	mapping *yaml.Node
}

// errBlock says that a block cannot be read.
type errBlock struct{ reason error }

func (e errBlock) Error() string {
	return "spec." + blockField + " cannot be read: " + e.reason.Error()
}

func (e errBlock) Unwrap() error { return e.reason }

// openDefaults returns nil when the document has no default values. An errBlock says that they are
// no mapping, perhaps because of templates, which is their author's right. It changes nothing.
func openDefaults(doc *document) (*defaults, error) {
	spec := lookup(doc.content(), "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return nil, errors.New("the document has no spec")
	}
	block, mapping := lookup(spec, blockField), lookup(spec, mappingField)
	filled := mapping != nil && mapping.Kind == yaml.MappingNode && len(mapping.Content) > 0
	switch {
	case block != nil && filled && !yamlnode.IsNull(block) && block.Value != "":
		return nil, fmt.Errorf("the document has both spec.%s and spec.%s", blockField, mappingField)
	case block != nil && !filled:
		return openBlock(doc, spec, block)
	case mapping != nil && mapping.Kind == yaml.MappingNode:
		return &defaults{outer: doc, spec: spec, name: mappingField, inner: doc, mapping: mapping}, nil
	case mapping != nil && !yamlnode.IsNull(mapping):
		return nil, fmt.Errorf("spec.%s is not a mapping, but %s", mappingField, yamlnode.Describe(mapping))
	}
	return nil, nil
}

func openBlock(doc *document, spec, block *yaml.Node) (*defaults, error) {
	content, ok := yamlnode.Text(block)
	if !ok && !yamlnode.IsNull(block) {
		return nil, errBlock{fmt.Errorf("it is not a string, but %s", yamlnode.Describe(block))}
	}
	inner, err := parse([]byte(content))
	if err != nil {
		return nil, errBlock{err}
	}
	return &defaults{outer: doc, spec: spec, name: blockField, inner: inner, mapping: inner.content()}, nil
}

// createDefaults is for documents without default values. Which field other groups have for
// them is not known.
func createDefaults(group string, doc *document) (*defaults, error) {
	if group != kkpGroup {
		return nil, fmt.Errorf("the kind, of the group %s, has no default values", group)
	}
	inner, err := parse(nil)
	if err != nil {
		return nil, err
	}
	spec := lookup(doc.content(), "spec")
	return &defaults{outer: doc, spec: spec, name: blockField, inner: inner, mapping: inner.content()}, nil
}

// merge merges values, unless that changes nothing.
func (d *defaults) merge(values *yaml.Node, override bool) {
	m := merger{doc: d.inner, override: override}
	if !m.changes(d.mapping, values) {
		return
	}
	if d.inner == d.outer && !isBlock(d.mapping) {
		under := newMapping()
		under.Content = []*yaml.Node{newString(d.name), values}
		m.merge(d.spec, under)
		return
	}
	if len(d.mapping.Content) == 0 {
		d.mapping.Style &^= yaml.FlowStyle
	}
	m.merge(d.mapping, values)
}

// ErrTemplates says that a block has templates, and would have to be encoded again as a whole,
// after which not all of them would stand there as they did.
var ErrTemplates = errors.New("its templates would not survive: write it in block style without anchors")

// template is an action of a Go template.
var template = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// close writes what changed into the document.
func (d *defaults) close() error {
	if d.inner == d.outer {
		return d.outer.flush()
	}
	before := d.inner.data
	if !d.inner.dirty {
		return nil
	}
	whole := d.inner.whole
	if err := d.inner.flush(); err != nil {
		return err
	}
	// Edits leave templates alone. The encoder moves comments and changes quotes; where that
	// touches a template, a comment can have been an {{ if }}.
	whole = whole || d.inner.encoded
	if whole && !contains(template.FindAll(d.inner.data, -1), template.FindAll(before, -1)) {
		return ErrTemplates
	}
	if i := index(d.spec, d.name); i >= 0 {
		d.outer.setBlock(d.spec, i, string(d.inner.data))
	} else {
		content := newString(string(d.inner.data))
		content.Style = yaml.LiteralStyle
		d.outer.addEntries(d.spec, d.outer.end(d.spec), []*yaml.Node{newString(d.name), content})
	}
	return d.outer.flush()
}

// contains reports whether all elements of sub occur in list, in this order.
func contains(list, sub [][]byte) bool {
	for _, element := range list {
		if len(sub) > 0 && bytes.Equal(element, sub[0]) {
			sub = sub[1:]
		}
	}
	return len(sub) == 0
}
