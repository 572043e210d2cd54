package filebased

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checkShape reports what of a value of valid JSON, at a place, has not a shape.
func checkShape(data []byte, want *shape, at place) []problem {
	c := shapeCheck{walker: walker{data: data}, top: at}
	c.check(want)
	return c.problems
}

// shapeCheck goes through a value.
type shapeCheck struct {
	walker
	top      place
	path     []step
	problems []problem
}

// step is a key with its quotes, or an index.
type step struct {
	key   []byte
	index int
}

func (c *shapeCheck) check(want *shape) {
	found := kindOf(c.blank())
	switch {
	case found == anything || want.kind == anything:
	case found == aMapping && (want.kind == aMapping || want.kind == aDictionary):
		c.mapping(want)
		return
	case found == aList && want.kind == aList:
		c.list(want)
		return
	case found == aNumber64 && (want.kind == aNumber32 || want.kind == aNumber64):
		c.number(want)
		return
	case found != want.kind:
		c.wrong(fmt.Sprintf("must be %s, but is %s", want.kind, found))
	}
	c.skip()
}

func (c *shapeCheck) number(want *shape) {
	start := c.at
	c.literal()
	if err := wholeNumber(c.data[start:c.at], map[kind]int{aNumber32: 32, aNumber64: 64}[want.kind]); err != nil {
		c.wrong(err.Error())
	}
}

// kindOf returns the kind of a value by its first character: that of null is anything.
func kindOf(first byte) kind {
	switch first {
	case 'n':
		return anything
	case '{':
		return aMapping
	case '[':
		return aList
	case '"':
		return aText
	case 't', 'f':
		return aBoolean
	default:
		return aNumber64
	}
}

func (c *shapeCheck) wrong(message string) {
	at := slices.Clone(c.top)
	for _, one := range c.path {
		if one.key == nil {
			at = append(at, one.index)
		} else {
			at = append(at, unquoted(one.key))
		}
	}
	c.problems = append(c.problems, problem{at: at, message: message})
}

func (c *shapeCheck) list(want *shape) {
	c.at++
	for i := 0; c.blank() != ']'; i++ {
		c.path = append(c.path, step{index: i})
		c.check(want.elements)
		c.path = c.path[:len(c.path)-1]
	}
	c.at++
}

func (c *shapeCheck) mapping(want *shape) {
	c.at++
	for c.blank() != '}' {
		key := c.text()
		c.path = append(c.path, step{key: key})
		c.check(want.of(key))
		c.path = c.path[:len(c.path)-1]
	}
	c.at++
}

// of returns the shape of the value of a key, whose letters may be in any case.
func (s *shape) of(key []byte) *shape {
	if s.kind == aDictionary {
		return s.elements
	}
	if found := s.keys[string(key[1:len(key)-1])]; found != nil {
		return found
	}
	name := unquoted(key)
	for known, found := range s.keys {
		if strings.EqualFold(known, name) {
			return found
		}
	}
	return &shape{}
}

// unquoted returns a string of valid JSON.
func unquoted(data []byte) (text string) {
	if inner := data[1 : len(data)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	_ = json.Unmarshal(data, &text) // it is valid
	return text
}

// wholeNumber checks a number, however it is written, as OLM's tools read it.
func wholeNumber(data []byte, bits int) error {
	number, err := strconv.ParseFloat(string(data), 64)
	if err == nil {
		if data, err = json.Marshal(number); err == nil {
			_, err = strconv.ParseInt(string(data), 10, bits)
		}
	}
	if err != nil {
		return fmt.Errorf("must be a whole number of %d bits: %s", bits, quote(string(data)))
	}
	return nil
}
