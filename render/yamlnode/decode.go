// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// errPanic is a panic of the YAML parser.
var errPanic = errors.New("parser gave up")

// Documents yields the documents of data that are not empty, as nodes of kind DocumentNode with one
// child. An error is the parser's, and the last element.
func Documents(data []byte) iter.Seq2[*yaml.Node, error] {
	return func(yield func(*yaml.Node, error) bool) {
		decoder := yaml.NewDecoder(bytes.NewReader(data))
		for {
			document, err := next(decoder)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			case !isEmpty(document.Content[0]) && !yield(document, nil):
				return
			}
		}
	}
}

// MostValues returns a number that the values in data cannot exceed, without parsing it: each value begins behind one of
// these characters. Keys do not count. A text may have them as well.
func MostValues(data []byte) (most int) {
	for _, c := range []byte(",[{:-?") {
		most += bytes.Count(data, []byte{c})
	}
	return most + 1
}

// First returns the content of the first document of data that is not empty, nil without one. What comes
// after it is not read.
func First(data []byte) (*yaml.Node, error) {
	for document, err := range Documents(data) {
		if err != nil {
			return nil, err
		}
		return document.Content[0], nil
	}
	return nil, nil
}

// Head returns the first document of data as Documents has it, nil if it is empty. What comes after it is not read.
func Head(data []byte) (*yaml.Node, error) {
	document, err := next(yaml.NewDecoder(bytes.NewReader(data)))
	if errors.Is(err, io.EOF) || err == nil && isEmpty(document.Content[0]) {
		return nil, nil
	}
	return document, err
}

// next turns a panic of the parser into an error: the input is untrusted, and the parser panics where
// it believes its own state impossible.
func next(decoder *yaml.Decoder) (document *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			document, err = nil, fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	document = &yaml.Node{}
	return document, decoder.Decode(document)
}

// isEmpty tells a document without content, as a trailing "---" leaves one, from a written null.
func isEmpty(content *yaml.Node) bool { return IsNull(content) && content.Value == "" }

// Position splits an error of Documents into the line in data, 0 when it is unknown, and a message.
// The parser leaves the line out when it is the first or when it has none, and counts from 0 where it
// misses a token.
func Position(err error, data []byte) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(message, "control characters") || strings.HasPrefix(message, "unknown anchor") || errors.Is(err, errPanic) {
		return 0, excerpt.Of(message)
	}
	line = 1
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
