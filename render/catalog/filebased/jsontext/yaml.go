// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v2"

	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Errors of documents that are beyond bounds, or have no one reading in JSON.
var (
	// ErrTwiceNaN is a key that equals nothing.
	ErrTwiceNaN = errors.New("has .nan as a key twice")
	// ErrNotInJSON is one of several problems in what is read without an order: a list at the top, and what << merges.
	ErrNotInJSON = errors.New("has keys or values that JSON cannot have, or too many of them")
	// ErrDepth is MaxDepth exceeded, and ErrValues MaxValues.
	ErrDepth  = fmt.Errorf("is nested deeper than %d levels", MaxDepth)
	ErrValues = fmt.Errorf("has more than %d values", MaxValues)
	errSize   = fmt.Errorf("has more than %d bytes with its aliases expanded", MaxDocument)
)

// FromYAML returns the first document of data as JSON, without keys that are there twice: the last one wins. OLM's
// tools read the YAML 1.1 of go.yaml.in/yaml/v2, in which `on` is a boolean, and so does this function: with
// another parser there were catalogs that pass here and fail there.
func FromYAML(data []byte) ([]byte, error) {
	if yamlnode.MostValues(data) > MaxValues {
		return nil, ErrValues
	}
	var value any
	if err := unmarshalYAML(data, &value); err != nil {
		return nil, err
	}
	c := converter{values: MaxValues, bytes: MaxDocument}
	converted, err := c.convert(value, 1)
	if err != nil {
		return nil, firstProblem(data, value)
	}
	return json.Marshal(converted)
}

// firstProblem returns the first problem of data whose value cannot be converted, in the order of the text, which its
// maps do not have.
func firstProblem(data []byte, value any) error {
	var ordered yaml.MapSlice
	if _, isMap := value.(map[any]any); !isMap || unmarshalYAML(data, &ordered) != nil {
		return ErrNotInJSON
	}
	c := converter{values: MaxValues, bytes: MaxDocument}
	if _, err := c.convert(ordered, 1); err != nil {
		return err
	}
	return ErrNotInJSON
}

// unmarshalYAML turns a panic of the parser into an error: the input is untrusted.
func unmarshalYAML(data []byte, value any) (err error) {
	defer parallel.RecoverAs("parser gave up", &err)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data[:len(data):len(data)], '\n') // as the tools do: a text of several lines may end with it
	}
	return yaml.Unmarshal(data, value)
}

// converter makes what encoding/json can encode. Its budgets bound what aliases expand to.
type converter struct{ values, bytes int }

func (c *converter) convert(value any, depth int) (any, error) {
	c.values--
	if text, isText := value.(string); isText {
		c.bytes -= len(text)
	}
	switch {
	case depth > MaxDepth:
		return nil, ErrDepth
	case c.values < 0:
		return nil, ErrValues
	case c.bytes < 0:
		return nil, errSize
	}
	switch value := value.(type) {
	case map[any]any:
		return c.mapping(value, depth)
	case yaml.MapSlice:
		return nil, c.ordered(value, depth)
	case []any:
		for i, element := range value {
			converted, err := c.convert(element, depth+1)
			if err != nil {
				return nil, err
			}
			if _, isMap := element.(map[any]any); isMap { // a list that an alias shares is converted once
				value[i] = converted
			}
		}
		return value, nil
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, errors.New("has a number that JSON cannot have: .nan or .inf")
		}
	case map[string]any: // converted already, by way of an alias
		return c.again(value, depth)
	}
	return value, nil
}

func (c *converter) mapping(value map[any]any, depth int) (any, error) {
	converted, keys := make(map[string]any, len(value)), make(map[string]any, len(value))
	for key, element := range value {
		name, err := keyName(key)
		if err != nil {
			return nil, err
		}
		c.bytes -= len(name)
		one, err := c.convert(element, depth+1)
		if err != nil {
			return nil, err
		}
		other, taken := keys[name]
		if taken && key != key && other != other { // .nan does not equal itself
			return nil, ErrTwiceNaN
		}
		if !taken || precedes(key, other) {
			keys[name], converted[name] = key, one
		}
	}
	return converted, nil
}

// ordered returns the first problem of a mapping.
func (c *converter) ordered(value yaml.MapSlice, depth int) error {
	hasNaN := false
	for _, item := range value {
		name, err := keyName(item.Key)
		if err != nil {
			return err
		}
		c.bytes -= len(name)
		if _, err := c.convert(item.Value, depth+1); err != nil {
			return err
		}
		if item.Key != item.Key { // .nan does not equal itself
			if hasNaN {
				return ErrTwiceNaN
			}
			hasNaN = true
		}
	}
	return nil
}

// precedes reports which of two keys with one name in JSON, such as 1 and "1", has the value that counts. OLM's tools
// accept both, and take either.
func precedes(key, other any) bool {
	return cmp.Or(strings.Compare(fmt.Sprintf("%T", other), fmt.Sprintf("%T", key)), strings.Compare(fmt.Sprint(other), fmt.Sprint(key))) < 0
}

// again counts a value once more.
func (c *converter) again(value map[string]any, depth int) (any, error) {
	for key, element := range value {
		c.bytes -= len(key)
		if _, err := c.convert(element, depth+1); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// keyName returns a key as JSON has it.
func keyName(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case int:
		return strconv.Itoa(key), nil
	case int64:
		return strconv.FormatInt(key, 10), nil
	case float64:
		switch text := strconv.FormatFloat(key, 'g', -1, 32); text {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return text, nil
		}
	case bool:
		return strconv.FormatBool(key), nil
	case nil:
		return "", errors.New("has null as a key")
	default:
		return "", errors.New("has a key that is neither a text nor a number nor a boolean")
	}
}

// Bounds of a document.
const (
	// MaxDocument bounds a document in bytes, with its aliases expanded. A bundle with all of its manifests has
	// to fit into an image's layer only: the largest known ones have 2 MB.
	MaxDocument = 8 << 20
	// MaxValues bounds the values of a document: in memory one takes a hundred times the two bytes that it may
	// take in the text.
	MaxValues = 500_000
	// MaxDepth bounds how deep values are nested.
	MaxDepth = 100
)
