package transform

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// merger merges mappings into a document: recursively where both sides are mappings; anything
// else is replaced as a whole.
type merger struct {
	doc *document
	// override replaces what is there; otherwise only missing keys are added. A key with null
	// is not missing.
	override bool
}

// merge merges values, whose keys are sorted, into a mapping of the document.
func (m merger) merge(mapping, values *yaml.Node) {
	var added []*yaml.Node
	behind := m.doc.end(mapping)
	for i := 0; i < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		current := lookup(mapping, key.Value)
		switch {
		case current == nil:
			added = append(added, clone(key), clone(value))
		case !m.changes(current, value):
		case current.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			m.descend(mapping, key.Value, value)
		default:
			m.doc.setValue(mapping, index(mapping, key.Value), clone(value))
		}
	}
	m.doc.addEntries(mapping, behind, added)
}

// descend merges into the mapping at a key. Flow style and empty mappings cannot be spliced
// into: they are merged aside and replaced.
func (m merger) descend(mapping *yaml.Node, name string, values *yaml.Node) {
	own := lookup(mapping, name)
	if isBlock(own) {
		m.merge(own, values)
		return
	}
	merged := clone(own)
	if len(merged.Content) == 0 {
		merged.Style = 0
	}
	aside := &document{root: &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{merged}}, lines: []int{0}, whole: true}
	forget(merged)
	merger{doc: aside, override: m.override}.merge(merged, values)
	m.doc.setValue(mapping, index(mapping, name), merged)
}

// changes reports whether merging value into what is there changes anything.
func (m merger) changes(current, value *yaml.Node) bool {
	if current.Kind != yaml.MappingNode || value.Kind != yaml.MappingNode {
		return m.override && !equal(current, value)
	}
	for i := 0; i < len(value.Content); i += 2 {
		below := lookup(current, value.Content[i].Value)
		if below == nil || m.changes(below, value.Content[i+1]) {
			return true
		}
	}
	return false
}

// equal reports whether what is there already is the value.
func equal(current, value *yaml.Node) bool {
	if current.Kind != value.Kind {
		return false
	}
	if current.Kind == yaml.ScalarNode {
		return current.ShortTag() == value.ShortTag() && current.Value == value.Value && !isAmbiguous(current)
	}
	var a, b any
	return current.Decode(&a) == nil && value.Decode(&b) == nil && reflect.DeepEqual(a, b)
}

// isAmbiguous reports whether readers of YAML 1.1 take a plain scalar for something else.
func isAmbiguous(node *yaml.Node) bool {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return node.Style&quoted == 0 && otherInYAML11.MatchString(node.Value)
}
