// SPDX-License-Identifier: Apache-2.0

// Package schemadiff finds what a change of a JSON schema refuses, or changes, of values that the older schema allowed. It
// must not know whose values these are.
package schemadiff

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

const (
	// maxSchema bounds a schema in bytes: parsed, it takes many times as much memory.
	maxSchema = 1 << 20
	// maxChanges bounds the changes that are returned, and maxVisits the pairs of schemas that are compared.
	maxChanges = 100
	maxVisits  = 20_000
)

// Of returns the changes from one text of a schema to another one, sorted by path. A schema that is larger than 1 MiB, or
// cannot be read or compared as a whole, is one more change, of the rule SchemaUnread.
func Of(older, newer string) []diff.SchemaChange {
	if newer == "" {
		return nil // everything is allowed
	}
	c := comparison{followed: map[[2]string]bool{}}
	if !read(older, &c.older) || !read(newer, &c.newer) {
		return []diff.SchemaChange{{Rule: diff.SchemaUnread}}
	}
	c.compare("", c.older, c.newer)
	slices.SortStableFunc(c.found, func(a, b diff.SchemaChange) int { return cmp.Compare(a.Path, b.Path) })
	if len(c.found) > maxChanges || c.visits > maxVisits {
		c.found = append(c.found[:min(len(c.found), maxChanges)], diff.SchemaChange{Rule: diff.SchemaUnread})
	}
	return c.found
}

// schema is a parsed JSON schema.
type schema = map[string]any

// read parses a schema; an empty text is one that allows everything. It reports whether it is one.
func read(text string, into *schema) bool {
	if text == "" {
		*into = schema{}
		return true
	}
	return len(text) <= maxSchema && json.Unmarshal([]byte(text), into) == nil && *into != nil
}

// comparison compares the schemas of two documents.
type comparison struct {
	older, newer schema
	found        []diff.SchemaChange
	visits       int
	// followed are the references that were compared: a schema may lead to itself.
	followed map[[2]string]bool
}

func (c *comparison) add(path string, rule diff.SchemaRule, from, to any) {
	one := diff.SchemaChange{Path: path, Rule: rule}
	if from != nil {
		one.From = diff.JSON(from)
	}
	if to != nil {
		one.To = diff.JSON(to)
	}
	c.found = append(c.found, one)
}

// compare compares the schemas of a value.
func (c *comparison) compare(path string, older, newer schema) {
	if c.visits++; c.visits > maxVisits || len(c.found) > maxChanges {
		return
	}
	if refs := [2]string{reference(older), reference(newer)}; refs != [2]string{} {
		if c.followed[refs] {
			return
		}
		c.followed[refs] = true
	}
	older, newer = resolve(c.older, older), resolve(c.newer, newer)
	c.value(path, older, newer)
	before, after := mapping(older["properties"]), mapping(newer["properties"])
	for _, name := range slices.Sorted(maps.Keys(before)) {
		below := strings.TrimPrefix(path+"."+name, ".")
		to, stays := after[name]
		if !stays {
			if _, others := newer["additionalProperties"].(schema); !others {
				c.add(below, diff.SchemaKeyGone, mapping(before[name])["type"], nil)
			}
			continue
		}
		c.compare(below, mapping(before[name]), mapping(to))
	}
	for _, name := range list(newer["required"]) {
		text, ok := name.(string)
		if ok && !contains(list(older["required"]), name) && mapping(after[text])["default"] == nil {
			c.add(strings.TrimPrefix(path+"."+text, "."), diff.SchemaRequired, nil, nil)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below := mapping(newer[key]); len(below) > 0 {
			c.compare(path+"[]", mapping(older[key]), below)
		}
	}
}

// value compares what the schemas say of the value itself.
func (c *comparison) value(path string, older, newer schema) {
	if was, is := types(older), types(newer); len(is) > 0 && (len(was) == 0 || slices.ContainsFunc(was, func(one string) bool { return !allows(is, one) })) {
		c.add(path, diff.SchemaType, older["type"], newer["type"])
	}
	if is := list(newer["enum"]); len(is) > 0 {
		if gone := slices.DeleteFunc(list(older["enum"]), func(one any) bool { return contains(is, one) }); len(gone) > 0 || older["enum"] == nil {
			c.add(path, diff.SchemaEnum, older["enum"], newer["enum"])
		}
	}
	if !reflect.DeepEqual(older["default"], newer["default"]) {
		c.add(path, diff.SchemaDefault, older["default"], newer["default"])
	}
	for _, b := range bounds() {
		was, is := older[b.key], newer[b.key]
		if is != nil && !reflect.DeepEqual(was, is) && b.allowsLess(was, is) {
			c.found = append(c.found, diff.SchemaChange{
				Path: path, Rule: diff.SchemaBound, From: strings.TrimSpace(b.key + " " + text(was)), To: strings.TrimSpace(b.key + " " + text(is)),
			})
		}
	}
}

func text(value any) string {
	if value == nil {
		return "not set"
	}
	return diff.JSON(value)
}

// bound is a keyword that bounds values.
type bound struct {
	key        string
	allowsLess func(was, is any) bool
}

func bounds() (all []bound) {
	number := func(value any) float64 { n, _ := value.(float64); return n }
	for _, key := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"} {
		all = append(all, bound{key, func(was, is any) bool { return was == nil || number(is) < number(was) }})
	}
	for _, key := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"} {
		all = append(all, bound{key, func(was, is any) bool { return was == nil || number(is) > number(was) }})
	}
	for _, key := range []string{"pattern", "format", "const", "multipleOf", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "patternProperties"} {
		all = append(all, bound{key, func(any, any) bool { return true }})
	}
	for _, key := range []string{"uniqueItems", "additionalProperties"} {
		refuses := key == "uniqueItems"
		all = append(all, bound{key, func(_, is any) bool { return is == refuses }})
	}
	return all
}

// types returns the types that a schema allows; none for all.
func types(s schema) (all []string) {
	if s["x-kubernetes-int-or-string"] == true {
		return []string{"integer", "string"}
	}
	if one, ok := s["type"].(string); ok {
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

func allows(types []string, one string) bool {
	return slices.Contains(types, one) || one == "integer" && slices.Contains(types, "number")
}

// resolve follows the references of a schema into its document; a schema with a reference elsewhere is returned unchanged.
func resolve(document, s schema) schema {
	const most = 16
	for range most {
		at, local := strings.CutPrefix(reference(s), "#")
		if !local {
			return s
		}
		var found any = document
		for name := range strings.SplitSeq(at, "/") {
			if name == "" {
				continue
			}
			found = mapping(found)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
		if s = mapping(found); len(s) == 0 {
			return s
		}
	}
	return s
}

func reference(s schema) string { ref, _ := s["$ref"].(string); return ref }

// mapping returns a value as a mapping, an empty one for another value.
func mapping(value any) schema { found, _ := value.(schema); return found }

// list returns a copy of a value that is a list, nil for another value.
func list(value any) []any { found, _ := value.([]any); return slices.Clone(found) }

func contains(all []any, one any) bool {
	return slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(one, other) })
}
