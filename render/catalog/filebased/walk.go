package filebased

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// walker goes through valid JSON.
type walker struct {
	data []byte
	at   int
}

// blank skips white space and separators, whose places need no check in valid JSON.
func (w *walker) blank() byte {
	for {
		w.at = skipSpace(w.data, w.at)
		if c := w.data[w.at]; c != ',' && c != ':' {
			return c
		}
		w.at++
	}
}

// skip skips a value and returns it.
func (w *walker) skip() []byte {
	first, start := w.blank(), w.at
	switch first {
	case '{', '[':
		w.at = objectEnd(w.data, w.at)
	case '"':
		w.at = textEnd(w.data, w.at)
	default:
		w.literal()
	}
	return w.data[start:w.at:w.at]
}

// text skips a string and returns it with its quotes.
func (w *walker) text() []byte {
	start := w.at
	w.at = textEnd(w.data, start)
	return w.data[start:w.at:w.at]
}

// literal skips a number, a boolean or null.
func (w *walker) literal() {
	for w.at < len(w.data) && bytes.IndexByte([]byte(" \t\r\n,:]}"), w.data[w.at]) < 0 {
		w.at++
	}
}

// eachMember calls do for each member of an object, none of another value.
func eachMember(data []byte, do func(key, value []byte)) {
	if data[0] != '{' {
		return
	}
	for w := (walker{data: data, at: 1}); w.blank() != '}'; {
		key := w.text()
		do(key, w.skip())
	}
}

// elements returns the elements of a list.
func elements(data []byte) (all [][]byte) {
	for w := (walker{data: data, at: 1}); w.blank() != ']'; {
		all = append(all, w.skip())
	}
	return all
}

// objectEnd returns the offset behind the object or list that starts at an offset, or the end of the data, which need
// not be valid.
func objectEnd(data []byte, at int) int {
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
