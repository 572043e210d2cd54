// SPDX-License-Identifier: Apache-2.0

// Package shape checks the types of the values in a document, and says at which place one is wrong. It must not know the
// schemas of documents.
package shape

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Kind of a value.
type Kind int

// Kinds of values that callers name.
const (
	anything Kind = iota
	Text
	Boolean
	Number32
	Number64
	aList
	aMapping   // with certain keys
	Dictionary // with any keys
)

func (k Kind) String() string {
	return [...]string{"anything", "a string", "a boolean", "a number", "a number", "a list", "a mapping", "a mapping"}[k]
}

// Shape is the type that OLM has for a value. A value of another one makes a catalog invalid, whether or not it is
// used. Null has every shape.
type Shape struct {
	Kind Kind
	// Keys of a mapping, as JSON has them. Those that are not there may have any value.
	Keys map[string]*Shape
	// Elements is the shape of the elements of a list or a dictionary.
	Elements *Shape
}

// Mapping returns the shape of a mapping with texts, and other keys.
func Mapping(texts []string, others map[string]*Shape) *Shape {
	keys := map[string]*Shape{}
	for _, name := range texts {
		keys[name] = &Shape{Kind: Text}
	}
	maps.Copy(keys, others)
	return &Shape{Kind: aMapping, Keys: keys}
}

// ListOf returns the shape of a list.
func ListOf(elements *Shape) *Shape { return &Shape{Kind: aList, Elements: elements} }

// Check reports what of a value of valid JSON, at a place, has not a shape.
func Check(data []byte, want *Shape, at FieldPath) []Problem {
	c := shapeCheck{Walker: jsontext.Walker{Data: data}, top: at}
	c.check(want)
	return c.problems
}

// shapeCheck goes through a value.
type shapeCheck struct {
	jsontext.Walker
	top      FieldPath
	path     []step
	problems []Problem
}

// step is a key with its quotes, or an index.
type step struct {
	key   []byte
	index int
}

func (c *shapeCheck) check(want *Shape) {
	found := kindOf(c.Blank())
	switch {
	case found == anything || want.Kind == anything:
	case found == aMapping && (want.Kind == aMapping || want.Kind == Dictionary):
		c.mapping(want)
		return
	case found == aList && want.Kind == aList:
		c.list(want)
		return
	case found == Number64 && (want.Kind == Number32 || want.Kind == Number64):
		c.number(want)
		return
	case found != want.Kind:
		c.wrong(fmt.Sprintf("must be %s, but is %s", want.Kind, found))
	}
	c.Skip()
}

func (c *shapeCheck) number(want *Shape) {
	start := c.At
	c.Literal()
	if err := wholeNumber(c.Data[start:c.At], map[Kind]int{Number32: 32, Number64: 64}[want.Kind]); err != nil {
		c.wrong(err.Error())
	}
}

// kindOf returns the kind of a value by its first character; null is of any kind.
func kindOf(first byte) Kind {
	switch first {
	case 'n':
		return anything
	case '{':
		return aMapping
	case '[':
		return aList
	case '"':
		return Text
	case 't', 'f':
		return Boolean
	default:
		return Number64
	}
}

func (c *shapeCheck) wrong(message string) {
	at := slices.Clone(c.top)
	for _, one := range c.path {
		if one.key == nil {
			at = append(at, one.index)
		} else {
			at = append(at, jsontext.Unquoted(one.key))
		}
	}
	c.problems = append(c.problems, Problem{At: at, Message: message})
}

func (c *shapeCheck) list(want *Shape) {
	c.At++
	for i := 0; c.Blank() != ']'; i++ {
		c.path = append(c.path, step{index: i})
		c.check(want.Elements)
		c.path = c.path[:len(c.path)-1]
	}
	c.At++
}

func (c *shapeCheck) mapping(want *Shape) {
	c.At++
	for c.Blank() != '}' {
		key := c.Text()
		c.path = append(c.path, step{key: key})
		c.check(want.Of(key))
		c.path = c.path[:len(c.path)-1]
	}
	c.At++
}

// Of returns the shape of the value of a key, whose letters may be in any case.
func (s *Shape) Of(key []byte) *Shape {
	if s.Kind == Dictionary {
		return s.Elements
	}
	if found := s.Keys[string(key[1:len(key)-1])]; found != nil {
		return found
	}
	name := jsontext.Unquoted(key)
	for known, found := range s.Keys {
		if strings.EqualFold(known, name) {
			return found
		}
	}
	return &Shape{}
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
		return fmt.Errorf("must be a whole number of %d bits: %s", bits, excerpt.Quoted(string(data)))
	}
	return nil
}
