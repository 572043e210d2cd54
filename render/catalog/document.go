package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// errPanic is a panic of the YAML parser.
var errPanic = errors.New("parser gave up")

// file is a file of the catalog that holds one YAML document.
type file struct {
	data []byte
	// root is the document's content without aliases at the top; nil when the file breaks a
	// rule that makes looking further pointless.
	root *yaml.Node
	// size of the content when its aliases are expanded.
	size extent
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
	root, size := parse(data, bounds, found)
	a.ledger.aliased.Add(int64(size.aliased))
	return &file{data: data, root: root, size: size}, nil
}

// read returns the bytes of a regular file, nil when found says why there are none.
func read(fsys fs.FS, limit int, found *findings) (_ []byte, err error) {
	// Before opening: opening a named pipe of a local directory blocks.
	info, err := fs.Stat(fsys, found.path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		found.add(0, "must be a regular file")
		return nil, nil
	}
	opened, err := fsys.Open(found.path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	data, err := content(opened, min(max(info.Size(), 0), int64(limit)), limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", found.path, err)
	}
	if len(data) > limit {
		found.add(0, "is larger than %d bytes", limit)
		return nil, nil
	}
	return data, nil
}

// content returns what an open file has, and no more than a byte over the limit of what has to be
// read. It is never nil. What a file in memory has is not copied.
func content(opened fs.File, size int64, limit int) ([]byte, error) {
	if held, ok := opened.(interface{ Content() []byte }); ok {
		if data := held.Content(); len(data) > 0 {
			return data, nil
		}
		return []byte{}, nil
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buffer.ReadFrom(io.LimitReader(opened, int64(limit)+1))
	return buffer.Bytes(), err
}

// parse returns the content of the only document in data and its extent, nil when found says why
// there is none.
func parse(data []byte, bounds bounds, found *findings) (*yaml.Node, extent) {
	document := single(data, found)
	if document == nil {
		return nil, extent{}
	}
	size, ok := sound(document, bounds, found)
	if !ok {
		return nil, size
	}
	return resolve(document), size
}

// single returns the only document in data, which may have any extent.
func single(data []byte, found *findings) *yaml.Node {
	if !utf8.Valid(data) {
		found.add(invalidLine(data), "must be UTF-8")
		return nil
	}
	document, second, err := decode(data)
	switch {
	case err != nil:
		line, message := position(err, data)
		found.add(line, "is not valid YAML: %s", message)
		return nil
	case document == nil:
		found.add(0, "is empty: expected one YAML document")
		return nil
	case second != nil:
		found.add(second.Line, "must hold exactly one YAML document, but a second one starts here")
		return nil
	}
	return document
}

// decode returns the first two documents that are not empty. Anything may follow the second.
// It turns a panic of the parser into an error: the input is untrusted, and the parser panics
// where it believes its own state impossible.
func decode(data []byte) (first, second *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			first, second, err = nil, nil, fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return first, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		content := document.Content[0]
		switch {
		case isEmpty(content):
		case first == nil:
			first = content
		default:
			return first, content, nil
		}
	}
}

// isEmpty tells a document without content, as a trailing "---" leaves one, from a written null.
func isEmpty(content *yaml.Node) bool {
	return content.Kind == yaml.ScalarNode && content.ShortTag() == "!!null" && content.Value == ""
}

// position splits the parser's error into line and message. The parser leaves the line out when
// it is the first or when it has none, and counts from 0 where it misses a token.
func position(err error, data []byte) (int, string) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(message, "control characters") || strings.HasPrefix(message, "unknown anchor") || errors.Is(err, errPanic) {
		return 0, excerpt.Of(message)
	}
	line := 1
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, detail, _ := strings.Cut(rest, ": ")
		if parsed, err := strconv.Atoi(number); err == nil {
			line, message = parsed, detail
		}
		if strings.HasPrefix(message, "did not find expected") {
			line++
		}
	}
	last := 1 + bytes.Count(bytes.TrimRight(data, "\r\n"), []byte("\n"))
	return min(line, last), excerpt.Of(message)
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
