package functions

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Every edit is made twice: in the tree of the document, and in its text, where comments and style stay. A text with
// another content than the tree is replaced by the encoded tree.

var errEdit = errors.New("it is written in a way that is not edited here: write it in block style")

// copied returns the document of a text with its content, as a tree that may be edited.
func copied(text []byte) (document, root *yaml.Node, err error) {
	for found, err := range yamlnode.Documents(text) {
		if err != nil {
			return nil, nil, err
		}
		document = yamlnode.Expand(found)
		return document, document.Content[0], nil
	}
	return nil, nil, errEdit
}

// choose returns the edited text if it has the content of the edited document, and the encoded document otherwise.
func choose(text []byte, document *yaml.Node) ([]byte, error) {
	want, err := yamlnode.Plain(document.Content[0])
	if err != nil {
		return nil, err
	}
	if text != nil && matches(text, want) {
		return text, nil
	}
	encoded, err := yamlnode.Encode(document)
	if err != nil {
		return nil, err
	}
	if !matches(encoded, want) {
		return nil, errEdit
	}
	return encoded, nil
}

// matches reports whether a text is a document with this content.
func matches(text []byte, want any) bool {
	root, err := parse(text)
	if err != nil {
		return false
	}
	got, err := yamlnode.Plain(root)
	return err == nil && reflect.DeepEqual(got, want)
}

// set sets a field of a mapping.
func set(mapping *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			mapping.Content[i+1] = value
			return
		}
	}
	mapping.Content = append(mapping.Content, scalar(name), value)
}

func scalar(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

// within returns the mapping in a field, which it makes if there is none.
func within(mapping *yaml.Node, name string) *yaml.Node {
	if found := yamlnode.Lookup(mapping, name); found != nil && found.Kind == yaml.MappingNode {
		return found
	}
	made := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	set(mapping, name, made)
	return made
}

// annotate gives a config a runtime with its hash, which may be empty, and a name unless that is empty.
func annotate(text []byte, runtime, hash, name string) ([]byte, error) {
	document, root, err := copied(text)
	if err != nil {
		return nil, err
	}
	metadata := within(root, "metadata")
	if name != "" {
		set(metadata, "name", scalar(name))
	}
	annotations := within(metadata, "annotations")
	set(annotations, functionKey, scalar(runtime))
	if hash != "" {
		set(annotations, digestKey, scalar(digestPrefix+hash))
	}
	return choose(annotateText(withoutRuntime(text), runtime, hash, name), document)
}

// withoutRuntime returns a text without the lines of the annotations that annotate writes, where it has them in block style.
func withoutRuntime(text []byte) []byte {
	for _, key := range []string{functionKey, digestKey} {
		root, err := parse(text)
		if err != nil {
			return text
		}
		metadata := yamlnode.Lookup(root, "metadata")
		annotations := yamlnode.Lookup(metadata, "annotations")
		found, ok := yamlnode.Find(annotations, key)
		if !ok || !isBlock(annotations) {
			continue
		}
		if len(annotations.Content) == 2 { // the last one
			found, _ = yamlnode.Find(metadata, "annotations")
		}
		l := newLines(text)
		text = l.remove(found.Line, l.endOfEntry(found.Line))
	}
	return text
}

// annotateText inserts the lines of the annotation; nil where the config is written in another style than people use.
func annotateText(text []byte, runtime, hash, name string) []byte {
	root, err := parse(text)
	if err != nil || !isBlock(root) || root.Content[0].Column != 1 {
		return nil
	}
	l, metadata := newLines(text), yamlnode.Lookup(root, "metadata")
	if metadata == nil {
		return l.insert(lastLineOfType(root), "metadata:\n"+nameLine(2, name)+annotations(2, runtime, hash))
	}
	if !isBlock(metadata) {
		return nil
	}
	first, existing := metadata.Content[0], yamlnode.Lookup(metadata, "annotations")
	indent := first.Column - 1
	switch {
	case existing == nil:
		return l.insert(first.Line-1, nameLine(indent, name)+annotations(indent, runtime, hash))
	case !isBlock(existing) || existing.Content[0].Line <= first.Line:
		return nil
	}
	edited := l.insert(existing.Content[0].Line-1, function(existing.Content[0].Column-1, runtime, hash))
	return newLines(edited).insert(first.Line-1, nameLine(indent, name))
}

// isBlock reports whether a node is a mapping in block style that has keys.
func isBlock(node *yaml.Node) bool {
	return node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Style&yaml.FlowStyle == 0
}

// lastLineOfType returns the line of apiVersion or kind, whichever is the later one.
func lastLineOfType(root *yaml.Node) (line int) {
	for _, entry := range yamlnode.Entries(root) {
		if entry.Name == "apiVersion" || entry.Name == "kind" {
			line = max(line, entry.Value.Line)
		}
	}
	return line
}

// nameLine returns the line of a name, if there is one.
func nameLine(indent int, name string) string {
	if name == "" {
		return ""
	}
	return strings.Repeat(" ", indent) + "name: " + name + "\n"
}

// annotations returns the lines of the annotations in metadata.
func annotations(indent int, runtime, hash string) string {
	return strings.Repeat(" ", indent) + "annotations:\n" + function(indent+2, runtime, hash)
}

// function returns the lines of the annotations for a runtime.
func function(indent int, runtime, hash string) string {
	spaces := strings.Repeat(" ", indent)
	var text strings.Builder
	text.WriteString(spaces + functionKey + ": |\n")
	for line := range strings.Lines(runtime) {
		text.WriteString(spaces + "  " + line)
	}
	if hash != "" {
		text.WriteString(spaces + digestKey + ": " + digestPrefix + hash + "\n")
	}
	return text.String()
}

// withoutField leaves a field of a kustomization out.
func withoutField(text []byte, name string) ([]byte, error) {
	document, root, err := copied(text)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == name {
			root.Content = append(root.Content[:i:i], root.Content[i+2:]...)
			break
		}
	}
	original, err := parse(text)
	if err != nil {
		return nil, err
	}
	found, _ := yamlnode.Find(original, name)
	var edited []byte
	if original.Style&yaml.FlowStyle == 0 && found.Line > 0 {
		l := newLines(text)
		edited = l.remove(found.Line, l.endOfField(found.Line))
	}
	return choose(edited, document)
}

// element is one of a list in a kustomization.
type element struct {
	field string
	index int
}

// withElements replaces elements of lists in a kustomization, which are texts of several lines.
func withElements(text []byte, values map[element]string) ([]byte, error) {
	document, root, err := copied(text)
	if err != nil {
		return nil, err
	}
	original, err := parse(text)
	if err != nil {
		return nil, err
	}
	at := map[int]string{} // lines of literals
	for one, value := range values {
		replaced := yamlnode.Lookup(root, one.field).Content[one.index]
		replaced.Value, replaced.Style = value, yaml.LiteralStyle
		if node := yamlnode.Lookup(original, one.field).Content[one.index]; node.Style&yaml.LiteralStyle != 0 {
			at[node.Line] = value
		}
	}
	edited := text
	for _, line := range slices.Backward(slices.Sorted(maps.Keys(at))) { // from the last one up: the others keep their lines
		if edited = newLines(edited).literal(line, at[line]); edited == nil {
			break
		}
	}
	return choose(edited, document)
}
