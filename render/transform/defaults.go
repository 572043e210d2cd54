// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// defaults are the default values of a document: the YAML in the string defaultValuesBlock, or
// the mapping defaultValues.
type defaults struct {
	outer *yamledit.Document
	spec  *yaml.Node
	name  string
	// inner is the document of the block, or outer.
	inner *yamledit.Document
	// mapping that the values are in.
	mapping *yaml.Node
}

// unreadable begins the error about a block that cannot be read.
const unreadable = "spec." + definition.ValuesBlock + " cannot be read: "

// openDefaults returns nil when the document has no default values. An error may report that they are
// no mapping, perhaps because of templates, which is their author's right. It changes nothing.
func openDefaults(doc *yamledit.Document) (*defaults, error) {
	spec := yamledit.Lookup(doc.Content(), "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return nil, errors.New("the document has no spec")
	}
	block, mapping := yamledit.Lookup(spec, definition.ValuesBlock), yamledit.Lookup(spec, definition.ValuesMapping)
	filled := mapping != nil && mapping.Kind == yaml.MappingNode && len(mapping.Content) > 0
	switch {
	case block != nil && filled && !yamlnode.IsNull(block) && block.Value != "":
		return nil, fmt.Errorf("the document has both spec.%s and spec.%s", definition.ValuesBlock, definition.ValuesMapping)
	case block != nil && !filled:
		return openBlock(doc, spec, block)
	case mapping != nil && mapping.Kind == yaml.MappingNode:
		return &defaults{outer: doc, spec: spec, name: definition.ValuesMapping, inner: doc, mapping: mapping}, nil
	case mapping != nil && !yamlnode.IsNull(mapping):
		return nil, fmt.Errorf("spec.%s is not a mapping, but %s", definition.ValuesMapping, yamlnode.Describe(mapping))
	}
	return nil, nil
}

func openBlock(doc *yamledit.Document, spec, block *yaml.Node) (*defaults, error) {
	content, ok := yamlnode.Text(block)
	if !ok && !yamlnode.IsNull(block) {
		return nil, fmt.Errorf(unreadable+"it is not a string, but %s", yamlnode.Describe(block))
	}
	inner, err := yamledit.ParseValues([]byte(content))
	if err != nil {
		return nil, fmt.Errorf(unreadable+"%w", err)
	}
	return &defaults{outer: doc, spec: spec, name: definition.ValuesBlock, inner: inner, mapping: inner.Content()}, nil
}

// createDefaults is for documents without default values. Which field other groups have for
// them is not known.
func createDefaults(group string, doc *yamledit.Document) (*defaults, error) {
	if group != kinds.KKPGroup {
		return nil, fmt.Errorf("the kind, of the group %s, has no default values", group)
	}
	return openBlock(doc, yamledit.Lookup(doc.Content(), "spec"), yamledit.NewString(""))
}

// merge merges values, unless that changes nothing.
func (d *defaults) merge(values *yaml.Node, override bool) {
	m := yamledit.Merger{Doc: d.inner, Override: override}
	if !m.Changes(d.mapping, values) {
		return
	}
	if d.inner == d.outer && !yamledit.IsBlock(d.mapping) {
		m.Merge(d.spec, mappingOf(d.name, values))
		return
	}
	if len(d.mapping.Content) == 0 {
		d.mapping.Style &^= yaml.FlowStyle
	}
	m.Merge(d.mapping, values)
}

// ErrTemplates reports that a block has templates, and would have to be encoded again as a whole,
// after which not all of them would stand there as they did.
var ErrTemplates = errors.New("its templates would not survive: write it in block style without anchors")

// close writes what changed into the document.
func (d *defaults) close() error {
	if d.inner == d.outer {
		return d.outer.Flush()
	}
	before := d.inner.Data
	if !d.inner.Dirty {
		return nil
	}
	whole := d.inner.Whole
	if err := d.inner.Flush(); err != nil {
		return err
	}
	// Edits leave templates alone. The encoder moves comments and changes quotes; where that
	// touches a template, a comment can have been an {{ if }}.
	whole = whole || d.inner.Encoded
	if whole && !contains(template.FindAll(d.inner.Data, -1), template.FindAll(before, -1)) {
		return ErrTemplates
	}
	if i := yamledit.Index(d.spec, d.name); i >= 0 {
		d.outer.SetBlock(d.spec, i, string(d.inner.Data))
	} else {
		content := yamledit.NewString(string(d.inner.Data))
		content.Style = yaml.LiteralStyle
		d.outer.AddEntries(d.spec, d.outer.End(d.spec), []*yaml.Node{yamledit.NewString(d.name), content})
	}
	return d.outer.Flush()
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
