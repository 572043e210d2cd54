package filebased

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// member is a key of an object with its value, as they are written.
type member struct {
	key, value []byte
	start      int // of the value
}

// object is the top of a document.
type object struct {
	members []member
	// plain says that the bytes have one reading: no object has two keys that differ in the case of their letters
	// at most, and no number needs an exponent.
	plain bool
}

// scanObject reads an object of valid JSON without decoding it.
func scanObject(data []byte) (object, error) {
	s := scanner{data: data, plain: true}
	top, err := s.object(1)
	return object{members: top, plain: s.plain}, err
}

// scanner goes through valid JSON.
type scanner struct {
	data       []byte
	at, values int
	plain      bool
}

// blank skips white space and separators, whose places need no check in valid JSON.
func (s *scanner) blank() byte {
	for {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
		default:
			return c
		}
	}
}

func (s *scanner) value(depth int) error {
	if s.values++; s.values > maxValues {
		return errValues
	}
	switch c := s.blank(); c {
	case '{':
		_, err := s.object(depth)
		return err
	case '[':
		return s.array(depth)
	case '"':
		s.text()
	default:
		s.literal()
	}
	return nil
}

func (s *scanner) array(depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	s.at++
	for s.blank() != ']' {
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

func (s *scanner) object(depth int) (members []member, err error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	s.blank()
	s.at++
	var seen seenKeys
	for s.blank() != '}' {
		key := s.text()
		if seen.add(key) {
			s.plain = false
		}
		s.blank()
		start := s.at
		if err := s.value(depth + 1); err != nil {
			return nil, err
		}
		if depth == 1 {
			members = append(members, member{key: key, value: s.data[start:s.at:s.at], start: start})
		}
	}
	s.at++
	return members, nil
}

// text skips a string and returns it with its quotes.
func (s *scanner) text() []byte {
	start := s.at
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.data[start:s.at:s.at]
}

// literal skips a number, a boolean or null.
func (s *scanner) literal() {
	start := s.at
	for s.at < len(s.data) && bytes.IndexByte([]byte(" \t\r\n,:]}"), s.data[s.at]) < 0 {
		s.at++
	}
	const longNumber = 300 // digits that a float64 can have before its point
	literal := s.data[start:s.at]
	if c := literal[0]; (c == '-' || c >= '0' && c <= '9') && (len(literal) > longNumber || bytes.ContainsAny(literal, "eE")) {
		s.plain = false
	}
}

// skip skips a value whose bounds were checked before.
func (s *scanner) skip() []byte {
	c, start := s.blank(), s.at
	switch c {
	case '{', '[':
		s.at = objectEnd(s.data, s.at)
	case '"':
		s.text()
	default:
		s.literal()
	}
	return s.data[start:s.at:s.at]
}

// eachMember calls do for each member of an object, none of another value, whose bounds were checked before.
func eachMember(data []byte, do func(key, value []byte)) {
	if data[0] != '{' {
		return
	}
	for s := (scanner{data: data, at: 1}); s.blank() != '}'; {
		key := s.text()
		do(key, s.skip())
	}
}

// elements returns the elements of a list whose bounds were checked before.
func elements(data []byte) (all [][]byte) {
	for s := (scanner{data: data, at: 1}); s.blank() != ']'; {
		all = append(all, s.skip())
	}
	return all
}

// seenKeys are the keys of an object, with their quotes.
type seenKeys struct {
	few  [][]byte
	many map[string]bool
}

// manyKeys is from where on a map is faster.
const manyKeys = 16

// add reports whether the key is, or may be, the same as another one but for the case of its letters.
func (k *seenKeys) add(key []byte) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		return true
	}
	if k.many == nil && len(k.few) < manyKeys {
		for _, other := range k.few {
			if bytes.EqualFold(other, key) {
				return true
			}
		}
		k.few = append(k.few, key)
		return false
	}
	if k.many == nil {
		k.many = map[string]bool{}
		for _, other := range k.few {
			k.many[folded(string(other))] = true
		}
	}
	name := folded(string(key))
	known := k.many[name]
	k.many[name] = true
	return known
}

// normalized returns JSON as OLM's tools read it: of equal keys the last one, sorted, with the numbers of float64.
func normalized(data []byte) ([]byte, error) {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("has a number that is too large: %w", err)
	}
	return json.Marshal(value)
}
