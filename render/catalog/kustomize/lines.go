// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"bytes"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// byteOrderMark is U+FEFF.
var byteOrderMark = []byte("\ufeff")

// checkLines finds what kustomize reads differently before it parses YAML: it cuts the file where
// `\n---.*\n` matches, whatever that is to a parser, and then reads the first document of each
// piece.
func checkLines(data []byte, found *violation.Findings) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if !isOrdinary(data) {
		checkEachLine(data, found)
	}
}

// checkEachLine is checkLines for data that is not ordinary, without a byte order mark in front.
func checkEachLine(data []byte, found *violation.Findings) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		// A parser of YAML 1.1 ends a line, and so a comment, at these characters. Kustomize and a
		// reviewer's editor do not.
		if document.HasBreak(line) {
			found.Add(number, "has a line break other than a line feed, which only some readers of YAML take for one: remove or escape it")
		}
		// The parser looks for one at the beginning of its buffer, wherever that is in the file.
		if bytes.Contains(line, byteOrderMark) {
			found.Add(number, "has a byte order mark (U+FEFF), at which kustomize may lose a character: remove or escape it")
		}
		switch {
		case bytes.HasPrefix(line, []byte("%")): // a piece that ends with a directive has no document
			found.Add(number, "begins with %%, as a directive does, which kustomize cannot read")
		case number > 1 && bytes.HasPrefix(line, []byte("---")) && !document.IsBlank(line[3:]):
			found.Add(number, "begins with ---, where kustomize cuts the file: only a comment may follow")
		}
	}
}

// isOrdinary reports whether a file has nothing that checkEachLine reports. It searches the file as a whole, which takes a
// tenth of the time that its lines take.
func isOrdinary(data []byte) bool {
	return !document.HasBreak(data) && !bytes.Contains(data, byteOrderMark) &&
		!bytes.HasPrefix(data, []byte("%")) && !bytes.Contains(data, []byte("\n%")) && !bytes.Contains(data, []byte("\n---"))
}

// endsWithComment reports whether nothing but blank lines and markers follow the last comment.
func endsWithComment(data []byte) bool {
	for len(data) > 0 {
		start := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
		line := bytes.TrimSpace(data[start:])
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
			return line[0] == '#'
		}
		data = data[:start]
	}
	return false
}
