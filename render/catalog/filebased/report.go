// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// report collects violations: of each file the first, whatever the number of files.
type report struct {
	kept   []numbered
	counts map[string]int
	total  int
	// located is the blob whose nodes root has: violations of one come one after the other.
	located *Blob
	root    *yaml.Node
}

// numbered is a violation in a document, counted from 1; 0 for the whole file.
type numbered struct {
	violation.Violation
	document int
}

func (r *report) add(path string, document, line int, message string) {
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.total++
	r.counts[path]++
	if r.counts[path] > maxFileViolations || len(r.kept) == maxViolations {
		return
	}
	if document > 0 {
		message = fmt.Sprintf("document %d: %s", document, message)
	}
	r.kept = append(r.kept, numbered{violation.Violation{Rule: violation.RuleFormat, Path: path, Line: line, Message: message}, document})
}

// file reports a violation by a whole file or directory.
func (r *report) file(path string, format string, args ...any) {
	r.add(path, 0, 0, fmt.Sprintf(format, args...))
}

// err returns an *InvalidError, or nil when nothing was added.
func (r *report) err() error {
	if r.total == 0 {
		return nil
	}
	slices.SortStableFunc(r.kept, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.document, b.document), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	invalid := &InvalidError{Omitted: r.total - len(r.kept)}
	invalid.Violations = each.Map(r.kept, func(one numbered) violation.Violation { return one.Violation })
	return invalid
}

// blob reports the problems of a blob.
func (r *report) blob(blob *Blob, problems []shape.Problem) {
	for _, one := range problems {
		if one.Line > 0 {
			r.add(blob.Path, blob.Document, blob.Line+one.Line-1, one.Message)
			continue
		}
		r.at(blob, one.At, "%s", one.Message)
	}
}

// at reports a violation in a blob, with the line of a value and the name of its field.
func (r *report) at(blob *Blob, at shape.FieldPath, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if len(at) > 0 {
		message = at.String() + ": " + message
	}
	if subject := blob.subject(); subject != "" {
		message = subject + ": " + message
	}
	line := blob.Line
	if len(at) > 0 && r.counts[blob.Path] < maxFileViolations && len(r.kept) < maxViolations {
		line = r.line(blob, at)
	}
	r.add(blob.Path, blob.Document, line, message)
}

// line returns the line of a value, or of the last part of its place that there is. Only what is wrong has to be
// located, so that its nodes need not be kept.
func (r *report) line(blob *Blob, at shape.FieldPath) int {
	if r.located != blob {
		r.located, r.root = blob, nil
		if root, err := yamlnode.First(blob.Data); err == nil {
			r.root = root
		}
	}
	node, line := r.root, 1
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

// InvalidError reports that a catalog's content is wrong. The messages begin with the number of the document in its file.
type InvalidError = violation.InvalidError

// nameList lists names of the catalog for a message.
func nameList(all []string) string { return excerpt.List(all, maxNames, excerpt.Quoted) }
