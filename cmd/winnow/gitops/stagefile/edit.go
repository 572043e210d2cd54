// SPDX-License-Identifier: Apache-2.0

package stagefile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
)

var (
	digestPattern = regexp.MustCompile(`^sha(256:[a-f0-9]{64}|512:[a-f0-9]{128})$`)
	notePattern   = regexp.MustCompile(`^[0-9]{1,6}$`)
)

// errStyle reports a way to write YAML that is not edited.
var errStyle = errors.New("the OCIRepository is written with brackets as in JSON, aliases, merge keys or tags in a way that is not edited here: edit it by hand")

// IsDigest reports whether a text is a digest that an OCIRepository may have.
func IsDigest(text string) bool { return digestPattern.MatchString(text) }

// SetDigest returns the content of the file with another digest in the stage, which has one.
func (s Stage) SetDigest(content []byte, digest string) ([]byte, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("%s is no digest such as sha256:12ab..., with 64 digits", excerpt.Quoted(digest))
	}
	return s.set(content, []string{"spec", "ref", "digest"}, digest)
}

// Approve returns the content of the file with the annotation that approves a promotion. It replaces a former one.
func (s Stage) Approve(content []byte, approval string) ([]byte, error) {
	digest, note, noted := strings.Cut(approval, "#")
	if !IsDigest(digest) || noted && !notePattern.MatchString(note) {
		return nil, fmt.Errorf("%s is no digest that could be approved", excerpt.Quoted(approval))
	}
	return s.set(content, []string{"metadata", "annotations", v1alpha1.ApproveAnnotation}, approval)
}

// Approve approves the promotion of the stage of a file that has a name and the digest that the approval names. It returns
// the line of the approval, too.
func Approve(content []byte, name, approval string) (edited []byte, line int, err error) {
	found, err := Find(content)
	if err != nil {
		return nil, 0, err
	}
	digest, _, _ := strings.Cut(approval, "#")
	for i, s := range found {
		if s.Name != name || s.Digest != digest {
			continue
		}
		if edited, err = s.Approve(content, approval); err == nil {
			found, err = Find(edited)
		}
		if err != nil {
			return nil, 0, err
		}
		return edited, found[i].lineOf("metadata", "annotations", v1alpha1.ApproveAnnotation), nil
	}
	return nil, 0, fmt.Errorf("it has no OCIRepository %s with the digest %s", excerpt.Quoted(name), excerpt.Quoted(digest))
}

// set sets a text of the object.
func (s Stage) set(content []byte, path []string, value string) ([]byte, error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, err
	}
	if err := yamledit.CheckPlain(documents[s.document]); err != nil {
		return nil, err
	}
	wanted, err := yamledit.Plain(documents)
	if err != nil {
		return nil, err
	}
	text := yamledit.NewText(content)
	if !replace(text, s.node, path, value) {
		return nil, errStyle
	}
	edited, ok := text.Edited()
	if !ok || !setPlain(wanted[s.document], s.items, path, value) || !yamledit.Proves(edited, wanted) {
		return nil, errStyle
	}
	return edited, nil
}

// replace records the edit. It returns false for a way to write YAML that is not edited.
func replace(text *yamledit.Text, mapping *yaml.Node, path []string, value string) bool {
	if mapping.Kind != yaml.MappingNode {
		return false
	}
	i := yamledit.Index(mapping, path[0])
	switch {
	case i < 0:
		return add(text, mapping, path, value)
	case len(path) > 1:
		return replace(text, mapping.Content[i+1], path[1:], value)
	}
	old := mapping.Content[i+1]
	written := yamledit.Quoted(old, old.Value)
	at, ok := text.Starts(old, written)
	if !ok || old.Kind != yaml.ScalarNode || old.Value == "" {
		return false
	}
	text.Splice(at, at+len(written), yamledit.Quoted(old, value))
	return true
}

// add adds keys behind the last one of a mapping.
func add(text *yamledit.Text, mapping *yaml.Node, path []string, value string) bool {
	if !yamledit.IsBlock(mapping) || len(mapping.Content) == 0 {
		return false
	}
	var lines strings.Builder
	indent := mapping.Content[0].Column - 1
	for n, key := range path {
		fmt.Fprintf(&lines, "\n%s%s:", strings.Repeat(" ", indent+2*n), key)
	}
	last := len(mapping.Content) - 2
	end := text.LastLine(mapping.Content[last].Line-1, indent, mapping.Content[last+1].Kind == yaml.SequenceNode)
	return text.Append(end, lines.String()+" "+value)
}

// setPlain sets a text of the object in a document, which has the types of yamledit.Plain.
func setPlain(document any, items []int, path []string, value string) bool {
	for _, i := range items {
		fields, _ := document.(map[string]any)
		list, _ := fields["items"].([]any)
		if i >= len(list) {
			return false
		}
		document = list[i]
	}
	fields, ok := document.(map[string]any)
	for _, key := range path[:len(path)-1] {
		if !ok {
			return false
		}
		next, there := fields[key].(map[string]any)
		if !there {
			next = map[string]any{}
			fields[key] = next
		}
		fields = next
	}
	fields[path[len(path)-1]] = value
	return ok
}
