// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"bytes"
	"strings"
)

// Fields are the values of an object of valid JSON by name. A name in knownKeys is spelled as in knownKeys, whatever
// the case of its letters in the document.
type Fields map[string][]byte

// ByName returns the values of members.
func ByName(members []Member) Fields {
	found := Fields{}
	for _, one := range members {
		found[CanonicalKey(Unquoted(one.Key))] = one.Value
	}
	return found
}

// FieldsOf returns the fields of an object, none of null.
func FieldsOf(data []byte) Fields {
	found := Fields{}
	EachMember(data, func(key, value []byte) { found[CanonicalKey(Unquoted(key))] = value })
	return found
}

// Text returns a string, which is empty for null and when it is missing.
func (f Fields) Text(name string) string {
	if data := f[name]; len(data) > 0 && data[0] == '"' {
		return Unquoted(data)
	}
	return ""
}

// List returns the elements of a list, none of null.
func (f Fields) List(name string) [][]byte {
	if data := f[name]; len(data) > 0 && data[0] == '[' {
		return Elements(data)
	}
	return nil
}

// knownKeys are the keys of documents and properties that are looked up.
var knownKeys = []string{"schema", "package", "name", "entries", "defaultChannel", "image", "properties", "relatedImages", "type", "value"}

// CanonicalKey returns a key of a document in the case of its letters that OLM documents.
func CanonicalKey(key string) string {
	for _, known := range knownKeys {
		if strings.EqualFold(known, key) {
			return known
		}
	}
	return key
}

// IsKey reports whether a key, with its quotes, is a name in any case of its letters.
func IsKey(key []byte, name string) bool { return bytes.EqualFold(key[1:len(key)-1], []byte(name)) }

// ValueOf returns the last value of a key, in any case of its letters, of valid JSON; nil without one, as of what is
// not an object.
func ValueOf(data []byte, name string) (value []byte) {
	EachMember(data, func(key, found []byte) {
		if IsKey(key, name) {
			value = found
		}
	})
	return value
}
