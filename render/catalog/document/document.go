// SPDX-License-Identifier: Apache-2.0

// Package document reads the YAML documents of a catalog within bounds. What is wrong with one becomes a finding.
//
// It must not know what a document means.
package document

import (
	"bytes"
	"errors"
	"io/fs"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Document is a file of the catalog that holds one YAML document, or a document of one with several.
type Document struct {
	// Data are its bytes.
	Data []byte
	// Root is the document's content without aliases at the top; nil when the file breaks a
	// rule that makes looking further pointless.
	Root *yaml.Node
	// Size of the content when its aliases are expanded.
	Size yamlnode.Extent
}

// Read returns the bytes of the regular file of found.Path, which has at most limit of them; nil when found explains why
// there are none. The error is the file system's.
func Read(fsys fs.FS, limit int, found *violation.Findings) ([]byte, error) {
	data, err := bounded.ReadFile(fsys, found.Path, limit)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		found.Add(0, "must be a regular file")
		return nil, nil
	case errors.Is(err, bounded.ErrTooLarge):
		found.Add(0, "is larger than %d bytes", limit)
		return nil, nil
	}
	return data, err
}

// Parse returns the only document in data. At most maxAliased of its nodes may be there because of aliases. Where found
// says why there is none, it has no Root.
func Parse(data []byte, maxAliased int, found *violation.Findings) *Document {
	parsed := &Document{Data: data}
	content := single(data, found)
	if content == nil {
		return parsed
	}
	size, ok := yamlnode.Check(content, maxAliased, found.Add)
	if parsed.Size = size; ok {
		parsed.Root = yamlnode.Resolve(content)
	}
	return parsed
}

// single returns the content of the only document in data, which may have any extent.
func single(data []byte, found *violation.Findings) (content *yaml.Node) {
	if !utf8.Valid(data) {
		found.Add(invalidLine(data), "must be UTF-8")
		return nil
	}
	if content := yamlnode.Only(data); content != nil {
		return content
	}
	for document, err := range yamlnode.Documents(data) {
		if err != nil {
			line, message := yamlnode.Position(err, data)
			found.Add(line, "is not valid YAML: %s", yamlnode.WithCause(message, line, data))
			return nil
		}
		if content != nil {
			found.Add(document.Content[0].Line, "must hold exactly one YAML document, but a second one starts here")
			return nil
		}
		content = document.Content[0]
	}
	if content == nil {
		found.Add(0, "is empty: expected one YAML document")
	}
	return content
}

// invalidLine returns the line of the first byte that is not UTF-8.
func invalidLine(data []byte) int {
	valid := 0
	for valid < len(data) {
		r, size := utf8.DecodeRune(data[valid:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		valid += size
	}
	return 1 + bytes.Count(data[:valid], []byte("\n"))
}
