// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Bounds of a bundle. OLM keeps the objects of one in a ConfigMap, which has at most a megabyte of them, compressed.
const (
	maxFiles     = 1000
	maxFileBytes = 4 << 20
	maxBytes     = 32 << 20
)

// reader reads the files of a bundle within bounds.
type reader struct {
	fsys         fs.FS
	report       violation.Report
	files, bytes int
}

// file is a YAML or JSON file with one document, a mapping.
type file struct {
	violation.Findings
	root *yaml.Node
	// json is the document as OLM's tools read it.
	json []byte
}

// names returns the names of the regular files of a directory that are not hidden.
func (r *reader) names(directory string) ([]string, error) {
	entries, err := fs.ReadDir(r.fsys, directory)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", directory, err)
	}
	if r.files += len(entries); r.files > maxFiles {
		r.report.Add(directory, "has more than %d files", maxFiles)
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		name := path.Join(directory, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			r.report.Add(name, "is a directory: OLM v1 refuses it, and other tools do not read it: move the files up, or out of %s", directory)
		case !entry.Type().IsRegular():
			r.report.Add(name, "must be a regular file")
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

// read reads a file. It returns nil where the report states what is wrong with it, or if it does not exist.
func (r *reader) read(name string) (*file, error) {
	read := &file{Findings: violation.Findings{Path: name}}
	data, err := document.Read(r.fsys, maxFileBytes, &read.Findings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if r.bytes += len(data); r.bytes > maxBytes {
		return nil, &violation.InvalidError{Violations: []violation.Violation{{Rule: violation.RuleFormat, Path: ".", Message: fmt.Sprintf("has more than %d bytes in all files together", maxBytes)}}}
	}
	if data != nil && read.parse(data) {
		return read, nil
	}
	r.report.Merge(read.Findings)
	return nil, nil
}

// parse reports whether the document is one.
func (f *file) parse(data []byte) bool {
	parsed := document.Parse(data, yamlnode.MaxAliased, &f.Findings)
	if parsed.Root == nil || !document.IsMapping(parsed.Root, "the document", &f.Findings) || len(f.Kept) > 0 {
		return false
	}
	converted, err := jsontext.FromYAML(data)
	if err != nil {
		f.Add(0, "cannot be converted to JSON: it %s", err)
		return false
	}
	f.root, f.json = parsed.Root, converted
	return true
}

// decode reads the document into a Go value, and reports the first value of another type.
func (f *file) decode(into any) bool {
	err := json.Unmarshal(f.json, into)
	if err == nil {
		return true
	}
	problem := mistake(err)
	f.Add(f.line(strings.Split(problem.At.String(), ".")...), "%s", strings.TrimSpace(problem.At.String()+" "+problem.Message))
	return false
}

// mistake returns what an error of json.Unmarshal is about, without the names of embedded structs.
func mistake(err error) shape.Problem {
	problem := shape.TypeProblem(err)
	last := max(len(problem.At)-1, 0)
	problem.At = append(slices.DeleteFunc(slices.Clone(problem.At[:last]), func(step any) bool { return step == "About" || step == "description" }), problem.At[last:]...)
	return problem
}

// at returns the value of a field, nil without one.
func (f *file) at(steps ...string) *yaml.Node {
	node := f.root
	for _, step := range steps {
		node = yamlnode.Lookup(node, step)
	}
	return node
}

// line returns the line of a field, or of the last part of its path that exists.
func (f *file) line(steps ...string) int {
	line, node := f.root.Line, f.root
	for _, step := range steps {
		entry, ok := yamlnode.Find(node, step)
		if !ok {
			break
		}
		line, node = entry.Line, yamlnode.Resolve(entry.Value)
	}
	return line
}

// itemLine returns the line of an item of a list, counted from 0, or the result of line if the list has no such item.
func (f *file) itemLine(i int, steps ...string) int {
	if list := f.at(steps...); list != nil && list.Kind == yaml.SequenceNode && i < len(list.Content) {
		return list.Content[i].Line
	}
	return f.line(steps...)
}

// items returns the items of a list, and reports what is none.
func (f *file) items(name string) []*yaml.Node {
	node := f.at(name)
	switch {
	case node == nil:
		f.Add(f.root.Line, "%s is missing", name)
	case node.Kind != yaml.SequenceNode:
		f.Add(node.Line, "%s must be a list, not %s", name, yamlnode.Describe(node))
	default:
		return node.Content
	}
	return nil
}
