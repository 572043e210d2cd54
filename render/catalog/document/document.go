package catalog

import (
	"bytes"
	"errors"
	"io/fs"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// file is a file of the catalog that holds one YAML document, or a document of one with several.
type file struct {
	data []byte
	// root is the document's content without aliases at the top; nil when the file breaks a
	// rule that makes looking further pointless.
	root *yaml.Node
	// size of the content when its aliases are expanded.
	size yamlnode.Extent
}

// open reads and parses the file of found.path. It returns nil when there is none. What is wrong
// with the content goes to found; the error is the file system's.
func (a *applications) open(bounds bounds, found *findings) (*file, error) {
	data, err := read(a.fsys, bounds.size, found)
	if data == nil || err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return &file{}, err
	}
	return a.parse(data, bounds, found), nil
}

// parse parses a document.
func (l *loader) parse(data []byte, bounds bounds, found *findings) *file {
	root, size := parse(data, bounds, found)
	l.ledger.aliased.Add(int64(size.Aliased))
	return &file{data: data, root: root, size: size}
}

// read returns the bytes of a regular file, nil when found says why there are none.
func read(fsys fs.FS, limit int, found *findings) ([]byte, error) {
	data, err := bounded.ReadFile(fsys, found.path, limit)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		found.add(0, "must be a regular file")
		return nil, nil
	case errors.Is(err, bounded.ErrTooLarge):
		found.add(0, "is larger than %d bytes", limit)
		return nil, nil
	}
	return data, err
}

// parse returns the content of the only document in data and its extent, nil when found says why
// there is none.
func parse(data []byte, bounds bounds, found *findings) (*yaml.Node, yamlnode.Extent) {
	content := single(data, found)
	if content == nil {
		return nil, yamlnode.Extent{}
	}
	size, ok := yamlnode.Check(content, bounds.aliased, found.add)
	if !ok {
		return nil, size
	}
	return yamlnode.Resolve(content), size
}

// single returns the content of the only document in data, which may have any extent.
func single(data []byte, found *findings) (content *yaml.Node) {
	if !utf8.Valid(data) {
		found.add(invalidLine(data), "must be UTF-8")
		return nil
	}
	for document, err := range yamlnode.Documents(data) {
		if err != nil {
			line, message := yamlnode.Position(err, data)
			if cause := yamlnode.Cause(message, line, data); cause != "" {
				message += ": " + cause
			}
			found.add(line, "is not valid YAML: %s", message)
			return nil
		}
		if content != nil {
			found.add(document.Content[0].Line, "must hold exactly one YAML document, but a second one starts here")
			return nil
		}
		content = document.Content[0]
	}
	if content == nil {
		found.add(0, "is empty: expected one YAML document")
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
