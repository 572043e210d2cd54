package filebased

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// where says where a blob is, for a message about another one.
func (b *Blob) where() string { return fmt.Sprintf("%s:%d", b.Path, b.Line) }

// blob reports the problems of a blob.
func (r *report) blob(blob *Blob, problems []problem) {
	for _, one := range problems {
		if one.line > 0 {
			r.add(Violation{Path: blob.Path, Document: blob.Document, Line: blob.Line + one.line - 1, Message: one.message})
			continue
		}
		r.at(blob, one.at, "%s", one.message)
	}
}

// at reports a violation in a blob, with the line of a value and the name of its field.
func (r *report) at(blob *Blob, at place, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if len(at) > 0 {
		message = at.String() + ": " + message
	}
	if subject := blob.subject(); subject != "" {
		message = subject + ": " + message
	}
	violation := Violation{Path: blob.Path, Document: blob.Document, Line: blob.Line, Message: message}
	if len(at) > 0 && r.counts[blob.Path] < maxFileViolations && len(r.kept) < maxViolations {
		violation.Line = r.line(blob, at)
	}
	r.add(violation)
}

// subject names what a blob describes.
func (b *Blob) subject() string {
	kind, known := map[string]string{SchemaPackage: "package", SchemaChannel: "channel", SchemaBundle: "bundle", SchemaDeprecation: "deprecations"}[b.Schema]
	switch {
	case !known:
		return ""
	case b.Name == "":
		return kind
	}
	return kind + " " + quote(b.Name)
}

// located is the blob of which the report has nodes: violations of one come one after the other.
type located struct {
	blob *Blob
	root *yaml.Node
}

// line returns the line of a value, or of the last part of its place that there is. Only what is wrong has to be
// located, so that its nodes need not be kept.
func (r *report) line(blob *Blob, at place) int {
	if r.last.blob != blob {
		root, err := yamlnode.First(blob.Data)
		if err != nil {
			root = nil
		}
		r.last = located{blob: blob, root: root}
	}
	node, line := r.last.root, 1
	for _, step := range at {
		if node == nil {
			break
		}
		switch step := step.(type) {
		case int:
			if node = yamlnode.Resolve(node); node.Kind != yaml.SequenceNode || step >= len(node.Content) {
				node = nil
				break
			}
			node = node.Content[step]
			line = node.Line
		case string:
			entry, found := yamlnode.Find(yamlnode.Resolve(node), step)
			if node = nil; found {
				node, line = entry.Value, entry.Line
			}
		}
	}
	return blob.Line + line - 1
}
