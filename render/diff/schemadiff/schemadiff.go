// SPDX-License-Identifier: Apache-2.0

// Package schemadiff finds what a change of a JSON schema refuses, or changes, of values that the older schema allowed. It
// must not know whose values these are.
package schemadiff

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

const (
	// maxChanges bounds the changes that are returned, and maxVisits the pairs of schemas that are compared.
	maxChanges = 100
	maxVisits  = 20_000
)

// Of returns the changes from one text of a schema to another one, sorted by path, where a server sets the defaults. A schema that
// is larger than 1 MiB, or cannot be read or compared as a whole, is one more change, of the rule SchemaUnread.
func Of(older, newer string) []diff.SchemaChange { return compared(older, newer, true) }

// WithoutDefaults returns what Of returns, where nothing reads the defaults.
func WithoutDefaults(older, newer string) []diff.SchemaChange { return compared(older, newer, false) }

func compared(older, newer string, setsDefaults bool) []diff.SchemaChange {
	if newer == "" {
		return nil // everything is allowed
	}
	c := comparison{setsDefaults: setsDefaults, followed: map[[2]uintptr]bool{}, equal: map[[2]uintptr]bool{}}
	if !read(older, &c.older) || !read(newer, &c.newer) {
		return []diff.SchemaChange{{Rule: diff.SchemaUnread}}
	}
	c.compare("", c.older, c.newer)
	slices.SortStableFunc(c.found, func(a, b diff.SchemaChange) int { return cmp.Compare(a.Path, b.Path) })
	if len(c.found) > maxChanges || c.visits > maxVisits || c.isPartial {
		c.found = append(c.found[:min(len(c.found), maxChanges)], diff.SchemaChange{Rule: diff.SchemaUnread})
	}
	return c.found
}

// comparison compares the schemas of two documents.
type comparison struct {
	older, newer schema
	setsDefaults bool
	found        []diff.SchemaChange
	visits       int
	// isPartial reports a reference into the document that leads nowhere.
	isPartial bool
	// followed are the pairs behind references that were compared, and equal the pairs that were found or assumed to be the same: a
	// schema may lead to itself.
	followed, equal map[[2]uintptr]bool
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
func (c *comparison) compare(path string, before, after any) {
	older, newer := schemaOf(before), schemaOf(after)
	if c.visits++; c.visits > maxVisits || len(c.found) > maxChanges || before == false {
		return
	}
	if reference(older) != "" || reference(newer) != "" {
		pair := pairOf(older, newer)
		if c.followed[pair] {
			return
		}
		c.followed[pair] = true
	}
	older, newer = c.resolve(c.older, older), c.resolve(c.newer, newer)
	c.value(path, older, newer)
	c.properties(path, older, newer)
	c.others(path, older, newer)
}

// properties compares the keys of an object. A key that the older schema does not mention is new: values are
// taken to lack it.
func (c *comparison) properties(path string, older, newer schema) {
	before, after := mapping(older["properties"]), mapping(newer["properties"])
	others, mayHaveOthers := newer["additionalProperties"].(schema)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		to, stays := after[name]
		switch {
		case stays:
			c.compare(join(path, name), before[name], to)
		case mayHaveOthers:
			c.compare(join(path, name), before[name], others)
		case before[name] != false:
			c.add(join(path, name), diff.SchemaKeyGone, schemaOf(before[name])["type"], nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[name]; was {
			continue
		}
		if was, isSchema := older["additionalProperties"].(schema); isSchema {
			c.compare(join(path, name), was, after[name])
		} else if mentions(older, name) {
			c.compare(join(path, name), schema{}, after[name])
		}
	}
	for _, name := range list(newer["required"]) {
		text, ok := name.(string)
		isSet := c.setsDefaults && c.resolve(c.newer, schemaOf(after[text]))["default"] != nil
		if ok && !isSet && !contains(list(older["required"]), name) {
			c.add(join(path, text), diff.SchemaRequired, nil, nil)
		}
	}
}

// others compares the schemas of elements, and of keys without a name.
func (c *comparison) others(path string, older, newer schema) {
	for _, key := range []string{"items", "additionalProperties"} {
		was, is := older[key], newer[key]
		_, wasList := was.([]any)
		_, isList := is.([]any)
		switch {
		case wasList || isList:
			if is != nil && !c.same(was, is) {
				c.bound(path, key, was, is)
			}
		case key == "items" && is == false:
			if was != false {
				c.bound(path, key, was, is)
			}
		case len(mapping(is)) > 0:
			c.compare(path+"[]", cmp.Or(was, any(schema{})), is)
		}
	}
}

// value compares what the schemas say of the value itself.
func (c *comparison) value(path string, older, newer schema) {
	if was, is := typesOfValues(older), types(newer); len(is) > 0 && (len(was) == 0 || slices.ContainsFunc(was, func(one string) bool { return !allows(is, one) })) {
		c.add(path, diff.SchemaType, older["type"], newer["type"])
	}
	was, wasListed := listed(older)
	var from any
	if wasListed {
		from = was
	}
	if is, isListed := listed(newer); isListed && (!wasListed || slices.ContainsFunc(was, func(one any) bool { return !contains(is, one) })) {
		c.add(path, diff.SchemaEnum, from, is)
	}
	if c.setsDefaults && !reflect.DeepEqual(older["default"], newer["default"]) {
		c.add(path, diff.SchemaDefault, older["default"], newer["default"])
	}
	c.keywords(path, older, newer)
}

// keywords compares the limits, and the keywords that are not looked into.
func (c *comparison) keywords(path string, older, newer schema) {
	for _, l := range limits() {
		if was, is := l.of(older), l.of(newer); is > was {
			key := l.keyOf(newer)
			c.bound(path, key, older[key], newer[key])
		}
	}
	for _, key := range []string{"uniqueItems", "additionalProperties"} {
		if refuses := key == "uniqueItems"; newer[key] == refuses && older[key] != refuses {
			c.bound(path, key, older[key], newer[key])
		}
	}
	for _, key := range opaque() {
		was, is := older[key], newer[key]
		if (is != nil || was != nil && dependsOn(newer, key)) && !c.same(was, is) {
			c.bound(path, key, was, is)
		}
	}
}

// resolve follows the references of a schema into its document, and adds what stands beside them. A reference elsewhere stays.
func (c *comparison) resolve(document, s schema) schema {
	const most = 16
	for range most {
		at, local := strings.CutPrefix(reference(s), "#")
		if !local {
			return s
		}
		target, found := find(document, at)
		if !found {
			c.isPartial = true
			return s
		}
		s = joined(target, s)
	}
	return s
}

func (c *comparison) bound(path, key string, was, is any) {
	text := func(value any) string {
		if value == nil {
			return key + " not set"
		}
		return key + " " + diff.JSON(value)
	}
	c.found = append(c.found, diff.SchemaChange{Path: path, Rule: diff.SchemaBound, From: text(was), To: text(is)})
}

// limit is a number that bounds values: by the keyword least or most, and for numbers by one that excludes the limit itself.
type limit struct {
	key, exclusive string
	// sign is -1 where a lower number refuses more.
	sign float64
}

func limits() (all []limit) {
	for _, of := range []string{"Length", "Items", "Properties"} {
		all = append(all, limit{"max" + of, "", -1}, limit{"min" + of, "", 1})
	}
	return append(all, limit{"maximum", "exclusiveMaximum", -1}, limit{"minimum", "exclusiveMinimum", 1})
}

// keyOf returns the keyword that bounds most. In older drafts, the exclusive one is a boolean.
func (l limit) keyOf(s schema) string {
	if exclusive, isNumber := s[l.exclusive].(float64); s[l.exclusive] == true || isNumber && l.sign*exclusive >= l.number(s) {
		return l.exclusive
	}
	return l.key
}

func (l limit) number(s schema) float64 {
	if n, isNumber := s[l.key].(float64); isNumber {
		return l.sign * n
	}
	if l.exclusive == "" && l.sign > 0 {
		return 0 // no length is less
	}
	return math.Inf(-1)
}

// of returns a number that is higher where a schema refuses more.
func (l limit) of(s schema) float64 {
	if l.keyOf(s) == l.key {
		return l.number(s)
	}
	if n, isNumber := s[l.exclusive].(float64); isNumber {
		return math.Nextafter(l.sign*n, math.Inf(1))
	}
	return math.Nextafter(l.number(s), math.Inf(1))
}

// opaque returns the keywords whose values are not looked into: one that differs may refuse more.
func opaque() []string {
	return []string{
		"$dynamicRef", "$recursiveRef", refKey, "additionalItems", "allOf", "anyOf", "contains", "dependencies", "dependentRequired",
		"dependentSchemas", "else", "format", "if", "maxContains", "minContains", "multipleOf", "not", "oneOf", "pattern",
		"patternProperties", "prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "x-kubernetes-validations",
	}
}

// dependsOn reports whether other keywords of a schema refuse more without a keyword.
func dependsOn(s schema, key string) bool {
	isUnevaluated := s["unevaluatedProperties"] != nil || s["unevaluatedItems"] != nil
	return isUnevaluated || key == "patternProperties" && s["additionalProperties"] != nil || key == "prefixItems" && s["items"] != nil
}

// mentions reports whether keywords that are not looked into, or patterns, may say something of a key.
func mentions(s schema, name string) bool {
	if s["patternProperties"] != nil {
		return true
	}
	for _, key := range opaque() {
		if s[key] != nil && hasKey(s[key], name) {
			return true
		}
	}
	return false
}

// same reports whether two values in schemas are equal, with what their references lead to, but for texts that people read.
func (c *comparison) same(was, is any) bool {
	if c.visits++; c.visits > maxVisits {
		return false
	}
	if a, isList := was.([]any); isList {
		b, _ := is.([]any)
		return b != nil && slices.EqualFunc(a, b, c.same)
	}
	a, isMapping := was.(schema)
	b, areMappings := is.(schema)
	if !isMapping || !areMappings {
		return reflect.DeepEqual(was, is)
	}
	pair := pairOf(a, b)
	if c.equal[pair] {
		return true
	}
	c.equal[pair] = true
	isEqual := maps.EqualFunc(said(c.resolve(c.older, a)), said(c.resolve(c.newer, b)), c.same)
	c.equal[pair] = isEqual
	return isEqual
}
