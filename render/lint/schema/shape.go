// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/lint/field"
)

// shape is what is known of a value: a small part of what a CustomResourceDefinition says. The zero
// value is that of which nothing is known.
type shape struct {
	kind kind
	// members of a mapping by name. A name that ends with "!" is that of a required member.
	members map[string]shape
	// elements of a list, or the values of a mapping with any keys.
	elements *shape
	// filled reports whether the empty text is refused as well.
	filled bool
	// defaulted reports whether the API server replaces null, which it otherwise refuses.
	defaulted bool
	// choices are all values of a text; nil if there are others.
	choices []string
	// pattern is one that a text must match.
	pattern string
}

// kind of a value, as JSON has them.
type kind string

const (
	textKind    kind = "a string"
	booleanKind kind = "a boolean"
	integerKind kind = "a number"
	listKind    kind = "a list"
	mappingKind kind = "a mapping"
)

// mapping returns the shape of a mapping with these members and no others.
func mapping(members map[string]shape) shape { return shape{kind: mappingKind, members: members} }

// listOf returns the shape of a list.
func listOf(elements shape) shape { return shape{kind: listKind, elements: &elements} }

// member returns the shape of a member, and whether the mapping has it.
func (s shape) member(name string) (shape, bool) {
	if known, ok := s.members[name]; ok {
		return known, true
	}
	known, ok := s.members[name+requiredMark]
	return known, ok
}

const requiredMark = "!"

// names returns those of the members, sorted.
func (s shape) names() []string {
	var all []string
	for name := range s.members {
		all = append(all, strings.TrimSuffix(name, requiredMark))
	}
	slices.Sort(all)
	return all
}

// required returns the names of the required members, sorted.
func (s shape) required() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		if trimmed, ok := strings.CutSuffix(name, requiredMark); ok {
			all = append(all, trimmed)
		}
	}
	return all
}

// fits reports whether a value is of the kind. Of a kind that is not known every value is.
func (s shape) fits(at field.Field) bool {
	switch s.kind {
	case listKind:
		return at.Node.Kind == yaml.SequenceNode
	case mappingKind:
		return at.Node.Kind == yaml.MappingNode
	case "":
		return true
	}
	if at.Node.Kind != yaml.ScalarNode {
		return false
	}
	switch at.Node.ShortTag() {
	case "!!bool":
		return s.kind == booleanKind
	case "!!int", "!!float":
		return s.kind == integerKind
	default: // what else YAML knows, JSON writes as text
		return s.kind == textKind
	}
}
