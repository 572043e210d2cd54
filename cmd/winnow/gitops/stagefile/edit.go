// SPDX-License-Identifier: Apache-2.0

package stagefile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
)

var digestPattern = regexp.MustCompile(`^sha(256:[a-f0-9]{64}|512:[a-f0-9]{128})$`)

// errStyle reports a way to write YAML that is not edited.
var errStyle = errors.New("the OCIRepository is written with brackets as in JSON, aliases, merge keys or tags in a way that is not edited here: edit it by hand")

// IsDigest reports whether a text is a digest that an OCIRepository may have.
func IsDigest(text string) bool { return digestPattern.MatchString(text) }

// SetDigest returns the content of the file with another digest in the stage, which has one.
func (s Stage) SetDigest(content []byte, digest string) ([]byte, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("%s is no digest such as sha256:12ab..., with 64 digits", excerpt.Quoted(digest))
	}
	old := s.object.Node
	for _, key := range digestField {
		old = yamledit.Lookup(old, key)
	}
	text := yamledit.NewText(content)
	if old == nil || old.Kind != yaml.ScalarNode || old.Value == "" || !text.Replace(old, yamledit.Quoted(old, digest)) {
		return nil, errStyle
	}
	edited, _ := text.Edited()
	return s.proven(content, edited, digestField, digest)
}

// Lines returns the lines of the annotation that names what a promotion loses, without empty ones.
func Lines(annotation string) []string {
	lines := each.Map(strings.Split(annotation, "\n"), strings.TrimSpace)
	return each.Where(lines, func(line string) bool { return line != "" })
}

// Approve adds lines to the annotation of the stage of a file that has a name and a digest, in the order in which they are given,
// none twice. It returns the line of the file that has the annotation, too.
func Approve(content []byte, name, digest string, lines []string) (edited []byte, line int, err error) {
	found, err := Find(content)
	if err != nil {
		return nil, 0, err
	}
	i := slices.IndexFunc(found, func(s Stage) bool { return s.Name == name && s.Digest == digest })
	if i < 0 {
		return nil, 0, fmt.Errorf("it has no OCIRepository %s with the digest %s", excerpt.Quoted(name), excerpt.Quoted(digest))
	}
	s := found[i]
	all := Lines(s.Approval)
	had := len(all)
	for _, line := range lines {
		if _, err := approval.Parse(line); err != nil {
			return nil, 0, err
		}
		all = each.Union(all, line)
	}
	if len(all) == had {
		return content, s.lineOf(annotation...), nil
	}
	text := yamledit.NewText(content)
	if !extend(text, s.object.Node, annotation, all, had) {
		return nil, 0, errStyle
	}
	edited, _ = text.Edited()
	found, err = Find(edited)
	if err != nil || i >= len(found) || !slices.Equal(Lines(found[i].Approval), all) {
		return nil, 0, errStyle
	}
	edited, err = s.proven(content, edited, annotation, found[i].Approval)
	return edited, found[i].lineOf(annotation...), err
}

// extend records the edit that makes a text have all lines, and not only the first ones that it has. It returns false for a way to
// write YAML that is not edited.
func extend(text *yamledit.Text, mapping *yaml.Node, path, all []string, had int) bool {
	if mapping.Kind != yaml.MappingNode || !yamledit.IsBlock(mapping) {
		return false
	}
	i, indent := yamledit.Index(mapping, path[0]), mapping.Content[0].Column-1
	switch {
	case i < 0:
		var keys strings.Builder
		for n, key := range path {
			fmt.Fprintf(&keys, "\n%s%s:", strings.Repeat(" ", indent+2*n), key)
		}
		last := len(mapping.Content) - 2
		end := text.LastLine(mapping.Content[last].Line-1, indent, mapping.Content[last+1].Kind == yaml.SequenceNode)
		return text.Append(end, keys.String()+" "+yamledit.Scalar(all, indent+2*len(path)))
	case len(path) > 1:
		return extend(text, mapping.Content[i+1], path[1:], all, had)
	}
	old := mapping.Content[i+1]
	switch {
	case old.Kind != yaml.ScalarNode || had == 0:
		return false
	case old.Style&yaml.LiteralStyle != 0:
		last := text.LastLine(old.Line-1, indent, false)
		inner, _ := text.Indent(last)
		return text.Append(last, yamledit.Block(all[had:], inner))
	}
	return text.Replace(old, "|") && text.Append(old.Line-1, yamledit.Block(all, indent+2))
}

// proven returns the edited content if it differs from the content by a text of the object alone.
func (s Stage) proven(content, edited []byte, path []string, value string) ([]byte, error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, err
	}
	if err := s.object.CheckPlain(documents); err != nil {
		return nil, err
	}
	switch proven, err := s.object.Proves(edited, documents, value, path...); {
	case err != nil:
		return nil, err
	case !proven:
		return nil, errStyle
	}
	return edited, nil
}
