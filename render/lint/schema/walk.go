// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// reportRule adds a finding of a rule in the line of a field.
type reportRule func(rule string, at field.Field, format string, args ...any)

// schemaCheck compares a document with the shape of its definition.
type schemaCheck struct {
	required string
	report   reportRule
}

// value checks a value that is set. Documents are bounded, and so is the recursion.
func (c schemaCheck) value(at field.Field, known shape) {
	if !known.fits(at) {
		c.report(typeRule, at, "%s must be %s, not %s%s", shownPath(at), known.kind, yamlnode.Describe(at.Node), remedy(at, known))
		return
	}
	switch at.Node.Kind {
	case yaml.MappingNode:
		c.mapping(at, known)
	case yaml.SequenceNode:
		for _, element := range at.Items() {
			c.below(element, known.elements)
		}
	case yaml.ScalarNode:
		c.text(at, known)
	}
}

// text checks what a text may be.
func (c schemaCheck) text(at field.Field, known shape) {
	switch {
	case known.filled && at.Node.Value == "":
		c.report(c.required, at, "%s is empty", shownPath(at))
	case known.choices != nil && !slices.Contains(known.choices, at.Node.Value):
		c.report(valueRule, at, "%s must be one of %s, not %s", shownPath(at), strings.Join(known.choices, ", "), excerpt.Quoted(at.Node.Value))
	case known.pattern != "" && !regexp.MustCompile(known.pattern).MatchString(at.Node.Value):
		c.report(valueRule, at, "%s must match %s, which %s does not", shownPath(at), known.pattern, excerpt.Quoted(at.Node.Value))
	}
}

func (c schemaCheck) below(at field.Field, known *shape) {
	switch {
	case known == nil:
	case at.IsSet():
		c.value(at, *known)
	case known.kind != "" && !known.defaulted:
		c.report(typeRule, at, "%s must be %s, not null: leave it out", shownPath(at), known.kind)
	}
}

func (c schemaCheck) mapping(at field.Field, known shape) {
	for _, member := range at.Members() {
		shape, ok := known.member(member.Name)
		switch {
		case known.members == nil:
			c.below(member.Field, known.elements)
		case !ok:
			c.unknown(member, known)
		case member.IsSet() || !slices.Contains(known.required(), member.Name): // null is missing, see below
			c.below(member.Field, &shape)
		}
	}
	for _, name := range known.required() {
		if member := at.Member(name); !member.IsSet() {
			c.report(c.required, member, "%s is missing", member.Path)
		}
	}
}

func (c schemaCheck) unknown(at field.Entry, known shape) {
	if meant := spelling.Typo(at.Name, known.names()); meant != "" {
		c.report(misspeltFieldRule, at.Field, "%s is no field: did you mean %s?", shownPath(at.Field), meant)
		return
	}
	c.report(unknownFieldRule, at.Field, "%s is a field that Winnow does not know: an API that does not have it refuses all applications",
		shownPath(at.Field))
}

// maxPath bounds the path of a field in a message, in bytes: keys are free in some mappings.
const maxPath = 160

func shownPath(at field.Field) string { return excerpt.To(at.Path, maxPath) }

// remedy states how a value becomes text.
func remedy(at field.Field, known shape) string {
	switch {
	case known.kind != textKind:
		return ""
	case at.Node.Kind == yaml.ScalarNode:
		return ": put it in quotes"
	case at.Node.Kind == yaml.MappingNode:
		return fmt.Sprintf(": write %s: | and the text below it", excerpt.Of(at.Path[strings.LastIndex(at.Path, ".")+1:]))
	}
	return ""
}
