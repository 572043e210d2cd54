// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// Walker goes through valid JSON.
type Walker struct {
	Data []byte
	At   int
}

// Blank skips white space and separators, whose places need no check in valid JSON.
func (w *Walker) Blank() byte {
	for {
		w.At = skipSpace(w.Data, w.At)
		if c := w.Data[w.At]; c != ',' && c != ':' {
			return c
		}
		w.At++
	}
}

// Skip skips a value and returns it.
func (w *Walker) Skip() []byte {
	first, start := w.Blank(), w.At
	switch first {
	case '{', '[':
		w.At = ObjectEnd(w.Data, w.At)
	case '"':
		w.At = textEnd(w.Data, w.At)
	default:
		w.Literal()
	}
	return w.Data[start:w.At:w.At]
}

// Text skips a string and returns it with its quotes.
func (w *Walker) Text() []byte {
	start := w.At
	w.At = textEnd(w.Data, start)
	return w.Data[start:w.At:w.At]
}

// Literal skips a number, a boolean or null.
func (w *Walker) Literal() {
	for w.At < len(w.Data) && bytes.IndexByte([]byte(" \t\r\n,:]}"), w.Data[w.At]) < 0 {
		w.At++
	}
}

// EachMember calls do for each member of an object, none of another value.
func EachMember(data []byte, do func(key, value []byte)) {
	if data[0] != '{' {
		return
	}
	for w := (Walker{Data: data, At: 1}); w.Blank() != '}'; {
		key := w.Text()
		do(key, w.Skip())
	}
}

// Elements returns the elements of a list.
func Elements(data []byte) (all [][]byte) {
	for w := (Walker{Data: data, At: 1}); w.Blank() != ']'; {
		all = append(all, w.Skip())
	}
	return all
}

// ObjectEnd returns the offset behind the object or list that starts at an offset, or the end of the data, which need
// not be valid.
func ObjectEnd(data []byte, at int) int {
	depth := 0
	for at < len(data) {
		switch data[at] {
		case '"':
			at = textEnd(data, at)
			continue
		case '\n':
			at = skipSpace(data, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return at + 1
			}
		}
		at++
	}
	return len(data)
}

// textEnd returns the offset behind the string that starts at an offset, or the end of the data.
func textEnd(data []byte, at int) int {
	for start := at + 1; ; {
		length := bytes.IndexByte(data[start:], '"')
		if length < 0 {
			return len(data)
		}
		end := start + length
		escapes := 0
		for end-escapes > start && data[end-escapes-1] == '\\' {
			escapes++
		}
		if start = end + 1; escapes%2 == 0 {
			return start
		}
	}
}

const everyByte = 0x0101010101010101

// skipSpace returns the offset of the first byte that is not white space.
func skipSpace(data []byte, at int) int {
	for at < len(data) {
		switch data[at] {
		case ' ', '\t', '\r':
			at++
		case '\n': // what follows is the indentation of a line
			at++
			for at+8 <= len(data) && binary.LittleEndian.Uint64(data[at:]) == everyByte*' ' {
				at += 8
			}
		default:
			return at
		}
	}
	return at
}

// plainText returns the number of bytes before the first one that ends a string, or is special in it: a quote, a
// backslash or a control character. It looks at eight bytes at once.
func plainText(data []byte) (n int) {
	const high = everyByte * 0x80
	for ; n+8 <= len(data); n += 8 {
		word := binary.LittleEndian.Uint64(data[n:])
		quote, escape := word^everyByte*'"', word^everyByte*'\\'
		special := (quote-everyByte)&^quote | (escape-everyByte)&^escape | (word-everyByte*' ')&^word
		if special &= high; special != 0 {
			return n + bits.TrailingZeros64(special)/8
		}
	}
	for n < len(data) && data[n] != '"' && data[n] != '\\' && data[n] >= ' ' {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHexadecimal(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// Unquoted returns a string of valid JSON.
func Unquoted(data []byte) (text string) {
	if inner := data[1 : len(data)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	_ = json.Unmarshal(data, &text) // it is valid
	return text
}
