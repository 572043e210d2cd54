// SPDX-License-Identifier: Apache-2.0

// Package jsontext reads documents of JSON, and of YAML as JSON, in place: without decoding them, within bounds, and such that
// each has one reading. It must not know the schemas of documents.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// Member is a key of an object with its value, as they are written.
type Member struct {
	Key, Value []byte
	Start      int // of the value
}

// Object is the top of a document.
type Object struct {
	Members []Member
	// Plain reports whether the bytes have one reading: no object has two keys that differ in the case of their letters
	// at most, and no number needs an exponent.
	Plain bool
}

// errNoJSON reports that a document is not valid JSON; checkJSON explains why.
var errNoJSON = errors.New("is not valid JSON")

// Scan reads an object without decoding it, and checks that it is valid JSON and within bounds. It takes most
// of the time of loading JSON.
func Scan(data []byte) (Object, error) {
	s := scanner{data: data, plain: true}
	if s.space() != '{' {
		return Object{}, errNoJSON
	}
	top, err := s.mapping(1)
	if err == nil && (s.space() != 0 || s.at < len(data)) {
		err = errNoJSON
	}
	return Object{Members: top, Plain: s.plain}, err
}

// scanner goes through JSON that may be invalid.
type scanner struct {
	data       []byte
	at, values int
	plain      bool
	// keys of the objects that are open, with their quotes.
	keys [][]byte
}

// space skips white space, and returns the next byte, 0 at the end.
func (s *scanner) space() byte {
	s.at = skipSpace(s.data, s.at)
	if s.at >= len(s.data) {
		return 0
	}
	return s.data[s.at]
}

func (s *scanner) value(depth int) error {
	if s.values++; s.values > MaxValues {
		return ErrValues
	}
	switch c := s.space(); {
	case c == '"':
		return s.text()
	case c == '{':
		_, err := s.mapping(depth)
		return err
	case c == '[':
		return s.list(depth)
	case c == '-' || isDigit(c):
		return s.number()
	}
	for _, literal := range []string{"true", "false", "null"} {
		if rest := s.data[s.at:]; len(rest) >= len(literal) && string(rest[:len(literal)]) == literal {
			s.at += len(literal)
			return nil
		}
	}
	return errNoJSON
}

// more skips what is behind an element, and reports whether another one follows.
func (s *scanner) more(end byte) (bool, error) {
	switch s.space() {
	case ',':
		s.at++
		return true, nil
	case end:
		s.at++
		return false, nil
	}
	return false, errNoJSON
}

func (s *scanner) list(depth int) error {
	if depth > MaxDepth {
		return ErrDepth
	}
	s.at++
	if s.space() == ']' {
		s.at++
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

// mapping skips an object, and returns the members of the one at the top.
func (s *scanner) mapping(depth int) (members []Member, err error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	s.at++
	if s.space() == '}' {
		s.at++
		return nil, nil
	}
	seen := seenKeys{start: len(s.keys)}
	for {
		one, err := s.member(depth)
		if err != nil {
			return nil, err
		}
		if s.plain && s.seen(&seen, one.Key) {
			s.plain = false
		}
		if depth == 1 {
			members = append(members, one)
		}
		if more, err := s.more('}'); !more {
			s.keys = s.keys[:seen.start]
			return members, err
		}
	}
}

func (s *scanner) member(depth int) (one Member, err error) {
	if s.space() != '"' {
		return one, errNoJSON
	}
	start := s.at
	if err := s.text(); err != nil {
		return one, err
	}
	one.Key = s.data[start:s.at:s.at]
	if s.space() != ':' {
		return one, errNoJSON
	}
	s.at++
	s.space()
	one.Start = s.at
	err = s.value(depth + 1)
	one.Value = s.data[one.Start:s.at:s.at]
	return one, err
}

// text skips a string.
func (s *scanner) text() error {
	for s.at++; ; s.at++ {
		s.at += plainText(s.data[s.at:])
		if s.at >= len(s.data) {
			return errNoJSON
		}
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c == '\\':
			if s.at++; !s.escape() {
				return errNoJSON
			}
		case c < ' ':
			return errNoJSON
		}
	}
}

// escape skips all but the last byte of what follows a backslash, and reports whether it is one of JSON's.
func (s *scanner) escape() bool {
	if s.at >= len(s.data) {
		return false
	}
	switch s.data[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
	default:
		return false
	}
	for range 4 {
		if s.at++; s.at >= len(s.data) || !isHexadecimal(s.data[s.at]) {
			return false
		}
	}
	return true
}

// number skips a number.
func (s *scanner) number() error {
	start := s.at
	s.oneOf("-")
	first := s.at
	if digits := s.digits(); digits == 0 || digits > 1 && s.data[first] == '0' {
		return errNoJSON
	}
	if s.oneOf(".") && s.digits() == 0 {
		return errNoJSON
	}
	hasExponent := s.oneOf("eE")
	if hasExponent {
		s.oneOf("+-")
		if s.digits() == 0 {
			return errNoJSON
		}
	}
	const longNumber = 300 // digits that a float64 can have before its point
	if hasExponent || s.at-start > longNumber {
		s.plain = false
	}
	return nil
}

// oneOf skips one of some characters, and reports whether there is one.
func (s *scanner) oneOf(characters string) bool {
	isThere := s.at < len(s.data) && strings.IndexByte(characters, s.data[s.at]) >= 0
	if isThere {
		s.at++
	}
	return isThere
}

// digits skips digits, and returns how many.
func (s *scanner) digits() int {
	start := s.at
	for s.at < len(s.data) && isDigit(s.data[s.at]) {
		s.at++
	}
	return s.at - start
}

// seenKeys are the keys of an object: the keys of the scanner from a start on, or, from where on a map is faster, a map.
type seenKeys struct {
	start int
	many  map[string]bool
}

const manyKeys = 16

// seen adds a key to the keys of an object, and reports whether it is, or may be, the same as another one but for
// the case of its letters.
func (s *scanner) seen(by *seenKeys, key []byte) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		return true
	}
	others := s.keys[by.start:]
	if by.many == nil && len(others) < manyKeys {
		for _, other := range others {
			if mayBeEqual(other, key) && bytes.EqualFold(other, key) {
				return true
			}
		}
		s.keys = append(s.keys, key)
		return false
	}
	if by.many == nil {
		by.many = map[string]bool{}
		for _, other := range others {
			by.many[Folded(string(other))] = true
		}
	}
	name := Folded(string(key))
	known := by.many[name]
	by.many[name] = true
	return known
}

// mayBeEqual compares the first characters of two keys with quotes, if they are ASCII.
func mayBeEqual(x, y []byte) bool {
	return x[1]|0x20 == y[1]|0x20 || (x[1]|y[1])&0x80 != 0
}

// Normalized returns JSON as OLM's tools read it: of equal keys the last one, sorted, with the numbers of float64.
func Normalized(data []byte) ([]byte, error) {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("has a number that is too large: %w", err)
	}
	return json.Marshal(value)
}

// Folded returns a key as it is compared with others.
func Folded(key string) string {
	if strings.IndexFunc(key, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(key)
	}
	return cases.Fold().String(key)
}
