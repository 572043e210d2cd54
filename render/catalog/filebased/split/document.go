// SPDX-License-Identifier: Apache-2.0

// Package split cuts the files of a catalog into documents where OLM's tools do. It must not know what a document says.
package split

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Document is a part of a file that OLM's tools read as one document.
type Document struct {
	Path string
	// Number in the file, and line of the first byte, from 1.
	Number, Line int
	Data         []byte
	JSON         bool
	// Failure is what is wrong with the content as JSON, where it begins as JSON does.
	Failure shape.Problem
}

// Failure is what hides the rest of a file.
type Failure struct {
	Number, Line int
	Message      string
}

// guessed bytes of a file tell whether it is JSON.
const guessed = 4096

// Documents cuts a file where OLM's tools do, which read by YAMLOrJSONDecoder of k8s.io/apimachinery: a file that
// begins with a brace is JSON, until something in one of its first two documents is not. YAML is cut at lines that
// begin with three dashes.
func Documents(data []byte, most int) ([]Document, *Failure) {
	s := splitter{data: data, most: most}
	head := bytes.TrimLeftFunc(data[:min(len(data), guessed)], unicode.IsSpace)
	if bytes.HasPrefix(head, []byte("{")) && s.json() {
		return s.found, s.failed
	}
	s.yaml()
	return s.found, s.failed
}

type splitter struct {
	data []byte
	most int
	// at is an offset that does not go back, and lines the number of lines above counted.
	at, counted, lines int
	found              []Document
	failure            shape.Problem
	failed             *Failure
}

// line returns the line of an offset, from 1. Offsets may not go back.
func (s *splitter) line(offset int) int {
	s.lines += bytes.Count(s.data[s.counted:offset], []byte("\n"))
	s.counted = offset
	return s.lines + 1
}

// add adds a document, and reports whether there may be more.
func (s *splitter) add(start, end int, isJSON bool) bool {
	one := Document{Number: len(s.found) + 1, Line: s.line(start), Data: s.data[start:end:end], JSON: isJSON}
	if !isJSON {
		one.Failure, s.failure = s.failure, shape.Problem{}
	}
	s.found = append(s.found, one)
	if len(s.found) > s.most {
		s.fail(start, fmt.Sprintf("the catalog has more than %d documents", MaxDocuments))
	}
	return s.failed == nil
}

func (s *splitter) fail(offset int, message string) {
	s.failed = &Failure{Number: len(s.found) + 1, Line: s.line(offset), Message: message}
}

// json reads values until the end, or one that is not JSON. It reports whether that is the end: a file may go on
// as YAML behind the first one.
func (s *splitter) json() (done bool) {
	for {
		start := s.at + len(s.data[s.at:]) - len(bytes.TrimLeft(s.data[s.at:], " \t\r\n"))
		if start == len(s.data) {
			return true
		}
		end := jsontext.ObjectEnd(s.data, start)
		if s.data[start] != '{' && len(s.found) > 1 {
			s.fail(start, "is not valid JSON: expected an object")
			return true
		}
		if len(s.found) <= 1 { // further ones are checked on all cores
			if found := CheckJSON(s.data[start:end]); found != nil {
				s.failure = *found
				s.failure.Line += bytes.Count(s.data[s.at:start], []byte("\n"))
				s.skipBlank()
				return false
			}
		}
		if !s.add(start, end, true) {
			return true
		}
		s.at = end
	}
}

// CheckJSON returns what is wrong with an object, nil for a valid one.
func CheckJSON(data []byte) *shape.Problem {
	if data[0] != '{' {
		return &shape.Problem{Message: "is not valid JSON: expected an object", Line: 1}
	}
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	offset := 0
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = min(int(syntax.Offset), len(data))
	}
	return &shape.Problem{Message: fmt.Sprintf("is not valid JSON: %v", err), Line: 1 + bytes.Count(data[:offset], []byte("\n"))}
}

// skipBlank skips white space up to the end of the line.
func (s *splitter) skipBlank() {
	for s.at < len(s.data) {
		r, size := utf8.DecodeRune(s.data[s.at:])
		if !unicode.IsSpace(r) {
			return
		}
		s.at += size
		if r == '\n' {
			return
		}
	}
}

// yaml cuts the rest of the file at lines with three dashes. Such a line ends a document that has begun, and
// otherwise begins one.
func (s *splitter) yaml() {
	start, filled := s.at, false
	for line := range bytes.Lines(s.data[s.at:]) {
		rest, isMarker := bytes.CutPrefix(line, []byte("---"))
		if text := strings.TrimSpace(string(rest)); isMarker && text != "" && text[0] != '#' {
			if !filled || s.add(start, s.at, false) {
				s.fail(s.at, "has more than a comment behind ---: "+excerpt.Quoted(text))
			}
			return
		}
		if isMarker && filled {
			if !s.add(start, s.at, false) {
				return
			}
			start = s.at
		}
		filled = !isMarker || !filled
		s.at += len(line)
	}
	if filled {
		s.add(start, len(s.data), false)
	}
}

// Content returns a document of YAML without the marker before it, and the number of lines that were cut off. A
// marker with a comment stays, unless a second one follows.
func (d Document) Content() (data []byte, lines int) {
	data = bytes.TrimPrefix(d.Data, []byte("\ufeff"))
	first, rest, found := bytes.Cut(data, []byte("\n"))
	if found && bytes.HasPrefix(first, []byte("---")) && (len(bytes.TrimSpace(first)) == 3 || bytes.HasPrefix(rest, []byte("---"))) {
		return rest, 1
	}
	return data, 0
}

// MaxDocuments bounds the documents of all files together.
const MaxDocuments = 100_000
