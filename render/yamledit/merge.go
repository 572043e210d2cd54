// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Merger merges mappings into a document: recursively where both sides are mappings; anything
// else is replaced as a whole.
type Merger struct {
	Doc *Document
	// Override replaces what is there; otherwise only missing keys are added. A key with null
	// is not missing.
	Override bool
}

// Merge merges values, whose keys are sorted, into a mapping of the document.
func (m Merger) Merge(mapping, values *yaml.Node) {
	var added []*yaml.Node
	behind := m.Doc.End(mapping)
	for i := 0; i < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		current := m.lookup(mapping, key.Value)
		switch {
		case current == nil:
			added = append(added, Clone(key), Clone(value))
		case !m.Changes(current, value):
		case current.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			m.descend(mapping, key.Value, value)
		default:
			m.Doc.SetValue(mapping, m.index(mapping, key.Value), Clone(value))
		}
	}
	m.Doc.AddEntries(mapping, behind, added)
}

// descend merges into the mapping at a key. Flow style and empty mappings cannot be spliced
// into: they are merged aside and replaced.
func (m Merger) descend(mapping *yaml.Node, name string, values *yaml.Node) {
	own := m.lookup(mapping, name)
	if IsBlock(own) {
		m.Merge(own, values)
		return
	}
	merged := Clone(own)
	if len(merged.Content) == 0 {
		merged.Style = 0
	}
	aside := &Document{Text: *NewText(nil), root: &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{merged}}, Whole: true, key: m.Doc.key}
	Forget(merged)
	Merger{Doc: aside, Override: m.Override}.Merge(merged, values)
	m.Doc.SetValue(mapping, m.index(mapping, name), merged)
}

// Changes reports whether merging value into what is there changes anything.
func (m Merger) Changes(current, value *yaml.Node) bool {
	if current.Kind != yaml.MappingNode || value.Kind != yaml.MappingNode {
		return m.Override && !Equal(current, value)
	}
	for i := 0; i < len(value.Content); i += 2 {
		below := m.lookup(current, value.Content[i].Value)
		if below == nil || m.Changes(below, value.Content[i+1]) {
			return true
		}
	}
	return false
}

// index and lookup are Index and Lookup of the key that the reader of the document reads as a name.
func (m Merger) index(mapping *yaml.Node, name string) int {
	return indexThat(mapping, func(key *yaml.Node) bool { return m.Doc.key(key) == name })
}

func (m Merger) lookup(mapping *yaml.Node, name string) *yaml.Node {
	if i := m.index(mapping, name); i >= 0 {
		return mapping.Content[i+1]
	}
	return nil
}

// Equal reports whether what is there already is the value.
func Equal(current, value *yaml.Node) bool {
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
