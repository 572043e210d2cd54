// SPDX-License-Identifier: Apache-2.0

package schemadiff

import (
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
)

// schema is a parsed JSON schema.
type schema = map[string]any

const refKey = "$ref"

// maxSchema bounds a schema in bytes: parsed, it takes many times as much memory.
const maxSchema = 1 << 20

// read parses a schema; an empty text is one that allows everything. It reports whether it is one.
func read(text string, into *schema) bool {
	if text == "" {
		*into = schema{}
		return true
	}
	return len(text) <= maxSchema && json.Unmarshal([]byte(text), into) == nil && *into != nil
}

// schemaOf returns a value as a schema: false allows nothing, and true, or what is no schema, everything.
func schemaOf(value any) schema {
	if value == false {
		return schema{"not": true}
	}
	return mapping(value)
}

// pairOf identifies two parts of the documents.
func pairOf(older, newer schema) [2]uintptr {
	return [2]uintptr{reflect.ValueOf(older).Pointer(), reflect.ValueOf(newer).Pointer()}
}

// find returns the schema at a JSON pointer.
func find(document schema, pointer string) (schema, bool) {
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	var found any = document
	names := strings.Split(pointer, "/")
	if names[0] != "" {
		return nil, false // the name of an anchor
	}
	for _, name := range names[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if elements, isList := found.([]any); isList {
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(elements) {
				found = elements[i]
				continue
			}
			return nil, false
		}
		found = mapping(found)[name]
	}
	_, isSchema := found.(schema)
	return schemaOf(found), isSchema || found == true || found == false
}

// joined returns the target of a reference with what stands beside it. Where both have a keyword, all of the target holds as well.
func joined(target, beside schema) schema {
	all := maps.Clone(target)
	if all == nil {
		all = schema{}
	}
	var both bool
	for key, value := range beside {
		if key == refKey {
			continue
		}
		_, has := target[key]
		both = both || has && !slices.Contains(remarks(), key)
		all[key] = value
	}
	if both {
		all["allOf"] = append(list(all["allOf"]), target)
	}
	return all
}

// remarks returns the keywords that refuse nothing.
func remarks() []string {
	return []string{"$comment", "$defs", "default", "definitions", "deprecated", "description", "examples", "title"}
}

// said returns a schema without what people read.
func said(s schema) schema {
	out := maps.Clone(s)
	for _, key := range remarks() {
		// A property may have the name of a keyword.
		if _, isSchema := out[key].(schema); !isSchema || key == "$defs" || key == "definitions" {
			delete(out, key)
		}
	}
	return out
}

// hasKey reports whether a value has a key at any depth.
func hasKey(value any, name string) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return hasKey(one, name) })
	case schema:
		if _, has := v[name]; has || v[refKey] != nil {
			return true
		}
		for _, one := range v {
			if hasKey(one, name) {
				return true
			}
		}
	}
	return false
}

// types returns the types that a schema allows; none for all.
func types(s schema) (all []string) {
	if s["x-kubernetes-int-or-string"] == true {
		all = append(all, "integer", "string")
	} else if one, ok := s["type"].(string); ok {
		all = append(all, one)
	}
	for _, one := range list(s["type"]) {
		if name, ok := one.(string); ok {
			all = append(all, name)
		}
	}
	if s["nullable"] == true && len(all) > 0 {
		all = append(all, "null")
	}
	return all
}

// typesOfValues returns the types of the values that a schema allows; none for all.
func typesOfValues(s schema) []string {
	all := types(s)
	if values, isListed := listed(s); isListed && len(all) == 0 {
		all = append(all, each.Map(values, typeOf)...)
	}
	return all
}

func typeOf(value any) string {
	switch v := value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case schema:
		return "object"
	}
	return "null"
}

func allows(types []string, one string) bool {
	return slices.Contains(types, one) || one == "integer" && slices.Contains(types, "number")
}

// listed returns the values that a schema lists; false if it lists none.
func listed(s schema) (all []any, isListed bool) {
	all, isListed = s["enum"].([]any)
	value, isConst := s["const"]
	switch {
	case isConst && isListed:
		return slices.DeleteFunc(slices.Clone(all), func(one any) bool { return !reflect.DeepEqual(one, value) }), true
	case isConst:
		return []any{value}, true
	}
	return all, isListed
}

func reference(s schema) string { ref, _ := s[refKey].(string); return ref }

// join returns the path of a key.
func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// mapping returns a value as a mapping, an empty one for another value.
func mapping(value any) schema { found, _ := value.(schema); return found }

// list returns a copy of a value that is a list, nil for another value.
func list(value any) []any { found, _ := value.([]any); return slices.Clone(found) }

func contains(all []any, one any) bool {
	return slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(one, other) })
}
