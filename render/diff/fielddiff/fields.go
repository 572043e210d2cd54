// SPDX-License-Identifier: Apache-2.0

// Package fielddiff finds the fields in which two objects differ, and shows their values: cut, and without base64. It must
// not know what the objects are.
package fielddiff

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Change is a field with its values.
type Change struct {
	Path     []string
	From, To any
	// gone is true if the newer object has no value, fresh if the older one has none.
	gone, fresh bool
}

// MaxFields bounds the changes that are listed for one object.
const MaxFields = 100

// Of returns the fields in which two objects differ, sorted by path. Lists are compared as a whole.
func Of(older, newer map[string]any) []Change {
	var all []Change
	walk(nil, older, newer, &all)
	return all
}

func walk(path []string, older, newer map[string]any, all *[]Change) {
	for _, key := range sets.List(sets.KeySet(older).Union(sets.KeySet(newer))) {
		below := append(slices.Clone(path), key)
		from, was := older[key]
		to, is := newer[key]
		mapping, one := from.(map[string]any)
		other, two := to.(map[string]any)
		switch {
		case one && two:
			walk(below, mapping, other, all)
		case was != is || !reflect.DeepEqual(from, to):
			*all = append(*all, Change{Path: below, From: from, To: to, gone: was && !is, fresh: is && !was})
		}
	}
}

// IsAt reports whether the change is at the path, or below it.
func (c Change) IsAt(path ...string) bool {
	return len(c.Path) >= len(path) && slices.Equal(c.Path[:len(path)], path)
}

// Text returns the path as a string.
func (c Change) Text() string {
	return excerpt.Path(c.Path, func(key string) string { return diff.JSON(key) })
}

// Field returns the change as the report has it.
func (c Change) Field() diff.Field {
	f := diff.Field{Path: c.Text()}
	key := c.Path[len(c.Path)-1]
	if !c.fresh {
		f.From = shown(key, c.From)
	}
	if !c.gone {
		f.To = shown(key, c.To)
	}
	return f
}

// shown returns the value of a field as JSON, with a placeholder for base64.
func shown(key string, value any) string {
	if text, ok := value.(string); ok {
		if word, ok := opaque(text, diff.IsLogo(key)); ok {
			return word
		}
	}
	return diff.JSON(readable(key, value))
}

// Bounded returns the first changes, at most most, and the number of the others.
func Bounded(changes []Change, most int) ([]diff.Field, int) {
	fields := make([]diff.Field, 0, min(len(changes), most))
	fields = append(fields, each.Map(changes[:min(len(changes), most)], Change.Field)...)
	return fields, len(changes) - len(fields)
}
