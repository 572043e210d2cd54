package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/identity"
)

// Bounds of the changes that are listed for one object.
const (
	maxFields = 100
	maxField  = 200 // bytes of a value
)

// change is a field with its values.
type change struct {
	path     []string
	from, to any
	// gone is true if the newer object has no value, fresh if the older one has none.
	gone, fresh bool
}

// fieldsOf returns the fields in which two objects differ, sorted by path. Lists are compared as a whole.
func fieldsOf(older, newer map[string]any) []change {
	var all []change
	walk(nil, older, newer, &all)
	return all
}

func walk(path []string, older, newer map[string]any, all *[]change) {
	keys := slices.Collect(maps.Keys(older))
	for key := range newer {
		if _, both := older[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		below := append(slices.Clone(path), key)
		from, was := older[key]
		to, is := newer[key]
		mapping, one := from.(map[string]any)
		other, two := to.(map[string]any)
		switch {
		case one && two:
			walk(below, mapping, other, all)
		case was != is || !reflect.DeepEqual(from, to):
			*all = append(*all, change{path: below, from: from, to: to, gone: was && !is, fresh: is && !was})
		}
	}
}

// isAt reports whether the change is at the path, or below it.
func (c change) isAt(path ...string) bool {
	return len(c.path) >= len(path) && slices.Equal(c.path[:len(path)], path)
}

// plainKey matches keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// text returns the path as a string.
func (c change) text() string {
	var path strings.Builder
	for i, key := range c.path {
		switch {
		case !plainKey.MatchString(key):
			fmt.Fprintf(&path, "[%s]", asJSON(key))
		case i > 0:
			path.WriteString("." + key)
		default:
			path.WriteString(key)
		}
	}
	return path.String()
}

func (c change) field() Field {
	f := Field{Path: c.text()}
	key := c.path[len(c.path)-1]
	if !c.fresh {
		f.From = shown(key, c.from)
	}
	if !c.gone {
		f.To = shown(key, c.to)
	}
	return f
}

// shown returns the value of a field as JSON, with a placeholder for base64.
func shown(key string, value any) string {
	if text, ok := value.(string); ok {
		if word, ok := opaque(text, isLogo(key)); ok {
			return word
		}
	}
	return asJSON(readable(key, value))
}

// asJSON returns a value as JSON, cut to maxField bytes, with its length if it was cut.
func asJSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value)) // NaN and the like
	}
	encoded := strings.TrimSuffix(text.String(), "\n")
	if len(encoded) <= maxField {
		return encoded
	}
	return fmt.Sprintf("%s (%d bytes)", excerpt.To(encoded, maxField), len(encoded))
}

// bounded returns the first changes, and the number of the others.
func bounded(changes []change) ([]Field, int) {
	fields := make([]Field, 0, min(len(changes), maxFields))
	for _, c := range changes[:min(len(changes), maxFields)] {
		fields = append(fields, c.field())
	}
	return fields, len(changes) - len(fields)
}

// other sets the changes outside of the entries of spec.versions.
func (a *Application) other(changes []change, older, newer render.Object) {
	a.Values = newValues(older, newer)
	if from, to := namespaceOf(older), namespaceOf(newer); from != to {
		a.DefaultNamespace = &Field{Path: "spec.defaultNamespace.name", From: from, To: to}
	}
	for _, c := range changes {
		if isIdentity(a, c.text()) {
			a.Identity = append(a.Identity, c.field())
		}
	}
	rest := slices.DeleteFunc(changes, func(c change) bool {
		return c.isAt("spec", blockField) || c.isAt("spec", mappingField) ||
			c.isAt("spec", "versions") && len(a.Versions) > 0 ||
			c.isAt("spec", "defaultNamespace", "name") && a.DefaultNamespace != nil ||
			isIdentity(a, c.text())
	})
	for i, c := range rest {
		// The entries are equal, so their order differs.
		if _, was := entries(older); c.isAt("spec", "versions") && len(was) > 0 {
			_, is := entries(newer)
			rest[i].from, rest[i].to = was, is
		}
	}
	a.Fields, a.FieldsOmitted = bounded(rest)
}

// isIdentity reports whether a field is one of those that decide which live releases are meant.
func isIdentity(a *Application, path string) bool {
	return strings.HasPrefix(a.APIVersion, identity.CozystackGroup+"/") &&
		(path == identity.Prefix || path == identity.Kind || path == identity.Plural)
}

// namespaceOf returns spec.defaultNamespace.name as JSON, empty without one.
func namespaceOf(object render.Object) string {
	spec, _ := object["spec"].(map[string]any)
	namespace, _ := spec["defaultNamespace"].(map[string]any)
	name, ok := namespace["name"].(string)
	if !ok {
		return ""
	}
	return asJSON(name)
}
